"""perfmonctl (perfmon 2.0), the performance monitoring interface of Linux for IA-64."""
