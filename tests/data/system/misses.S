#include "system.h"
	CASE alternate_data
	movl r4 = IN(1, 0x8008)
	AT alternate_data
	ld8 r8 = [r4]
	END alternate_data, ISR | IIP | IFA | ITIR | IIPA
//= alternate_data 1000 isr=0000+r.0 iip=+000 ifa=2000000000008008 itir=0000000000001138 iipa=-010 | volume 2, 8.3
	CASE nothing
	AT nothing
	END nothing, ISR
//= nothing none | volume 2, 5.2
	FINISH
