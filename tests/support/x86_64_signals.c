/* Signals, mappings, code that changes, and processes: prints what a program sees of each, which is the same natively and
   under an engine. Ends by a signal. */

#define _GNU_SOURCE
#include <signal.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>
#include <errno.h>
#include <spawn.h>
static sigjmp_buf jb; static volatile int n, alarms;
static void segv(int s, siginfo_t*i, void*u){ printf("segv %d\n", i->si_code); fflush(stdout); siglongjmp(jb,1);}
static void fpe(int s, siginfo_t*i, void*u){ ucontext_t*c=u; n++; unsigned char*ip=(unsigned char*)c->uc_mcontext.gregs[REG_RIP]; printf("fpe code %d op %02x same %d\n", i->si_code, ip[0], i->si_addr==(void*)ip); c->uc_mcontext.gregs[REG_RCX]=1; }
static void ill(int s, siginfo_t*i, void*u){ ucontext_t*c=u; c->uc_mcontext.gregs[REG_RIP]+=2; printf("ill\n"); }
static void trap(int s, siginfo_t*i, void*u){ printf("trap %d\n", i->si_code); }
static void alrm(int s){ alarms++; double x=1.5; for(int i=0;i<10;i++) x*=1.1; __asm__ volatile("xorps %%xmm0,%%xmm0\n xorps %%xmm15,%%xmm15\nvzeroall":::"xmm0","xmm15"); }
static void usr1(int s, siginfo_t*i, void*u){ printf("usr1 from %d val %d\n", i->si_code, i->si_value.sival_int); raise(SIGUSR2); printf("usr1 end\n"); }
static void usr2(int s){ printf("usr2 nested\n"); }
static void onstack(int s, siginfo_t*i, void*u){ char here; stack_t ss; sigaltstack(0,&ss); printf("on alt %d\n", (ss.ss_flags&SS_ONSTACK)!=0 && &here>=(char*)ss.ss_sp && &here<(char*)ss.ss_sp+ss.ss_size); siglongjmp(jb,2);}
static int deep(int k){ volatile char b[4096]; b[0]=k; return deep(k+1)+b[0]; }
int main(void){
  struct sigaction a; memset(&a,0,sizeof a); a.sa_flags=SA_SIGINFO; a.sa_sigaction=segv; sigaction(SIGSEGV,&a,0);
  if(!sigsetjmp(jb,1)) *(volatile int*)16=1;
  if(!sigsetjmp(jb,1)) ((void(*)(void))0x123456)();
  char*p=mmap(0,4096,PROT_READ,MAP_PRIVATE|MAP_ANONYMOUS,-1,0); if(!sigsetjmp(jb,1)) p[5]=1; 
  a.sa_sigaction=fpe; sigaction(SIGFPE,&a,0);
  long q; __asm__ volatile("mov $0,%%ecx\n mov $10,%%eax\n cltd\n idiv %%ecx":"=a"(q)::"ecx","edx"); printf("q %ld n %d\n", q, n);
  a.sa_sigaction=ill; sigaction(SIGILL,&a,0); __asm__ volatile("ud2");
  a.sa_sigaction=trap; sigaction(SIGTRAP,&a,0); __asm__ volatile("int3");
  struct sigaction b; memset(&b,0,sizeof b); b.sa_handler=alrm; sigaction(SIGALRM,&b,0);
  struct itimerval t={{0,1000},{0,1000}}; setitimer(ITIMER_REAL,&t,0);
  double s=0; for(long i=1;i<30000000;i++) s+=1.0/i; t.it_value.tv_usec=t.it_interval.tv_usec=0; setitimer(ITIMER_REAL,&t,0);
  printf("sum %.12f alarms %d\n", s, alarms>3);
  a.sa_sigaction=usr1; sigaction(SIGUSR1,&a,0); b.sa_handler=usr2; sigaction(SIGUSR2,&b,0);
  union sigval v={.sival_int=42}; sigqueue(getpid(),SIGUSR1,v);
  sigset_t m,o; sigemptyset(&m); sigaddset(&m,SIGUSR2); sigprocmask(SIG_BLOCK,&m,&o); raise(SIGUSR2); printf("blocked\n"); sigpending(&m); printf("pending %d\n", sigismember(&m,SIGUSR2)); sigsuspend(&o); printf("after suspend %d\n", errno==EINTR); sigprocmask(SIG_SETMASK,&o,0);
  int pf[2]; pipe(pf); b.sa_handler=alrm; b.sa_flags=SA_RESTART; sigaction(SIGALRM,&b,0); pid_t c=fork(); if(!c){ usleep(0); for(volatile long i=0;i<50000000;i++); write(pf[1],"x",1); _exit(5);} 
  t.it_value.tv_usec=2000; setitimer(ITIMER_REAL,&t,0); char ch; int r=read(pf[0],&ch,1); int st; waitpid(c,&st,0); printf("restarted read %d status %d\n", r, WEXITSTATUS(st));
  b.sa_flags=0; sigaction(SIGALRM,&b,0); t.it_value.tv_usec=2000; setitimer(ITIMER_REAL,&t,0); r=read(pf[0],&ch,1); printf("interrupted %d %d\n", r, errno==EINTR);
  stack_t ss={.ss_sp=malloc(65536),.ss_size=65536}; sigaltstack(&ss,0); a.sa_sigaction=onstack; a.sa_flags=SA_SIGINFO|SA_ONSTACK; sigaction(SIGSEGV,&a,0);
  if(!sigsetjmp(jb,1)) deep(0);
  unsigned char*j=mmap(0,4096,7,MAP_PRIVATE|MAP_ANONYMOUS,-1,0);
  for(int i=0;i<5;i++){ j[0]=0xb8; j[1]=i*3; j[2]=j[3]=j[4]=0; j[5]=0xc3; printf("jit %d\n", ((int(*)(void))j)()); }
  unsigned char*w=mmap(0,4096,3,MAP_PRIVATE|MAP_ANONYMOUS,-1,0);
  for(int i=0;i<3;i++){ mprotect(w,4096,3); w[0]=0xb8; w[1]=i*5; w[2]=w[3]=w[4]=0; w[5]=0xc3; mprotect(w,4096,5); printf("wx %d\n", ((int(*)(void))w)()); }
  char*big=mmap(0,300L<<30,PROT_NONE,MAP_PRIVATE|MAP_ANONYMOUS|MAP_NORESERVE,-1,0); printf("big %d\n", big!=MAP_FAILED);
  char*args[]={"echo","spawned",0}; pid_t sp; extern char**environ; fflush(stdout); int e=posix_spawnp(&sp,"echo",0,0,args,environ); fflush(stdout); waitpid(sp,&st,0); printf("spawn %d %d\n", e, st);
  c=vfork(); if(!c){ execlp("true","true",(char*)0); _exit(9);} waitpid(c,&st,0); printf("vfork %d\n", WEXITSTATUS(st));
  void*h=0; for(int i=0;i<2000;i++){ void*x=malloc(i*37+100000); memset(x,i,100); free(h); h=x; } free(h);
  fflush(stdout); signal(SIGSEGV,SIG_DFL); *(volatile int*)8=1; }
