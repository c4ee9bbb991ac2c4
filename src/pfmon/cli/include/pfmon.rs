//! Marks regions of a program for pfmon (docs/regions.md).
//!
//! Copy this file beside your sources, and write `mod pfmon;`:
//!
//! ```ignore
//! let _region = pfmon::region(c"sort"); // to the end of the scope
//! ```
//!
//! or `pfmon::start(c"sort")` and `pfmon::stop(c"sort")`. `pfmon --region sort ./program` counts what is between. A mark is a
//! nop; on processors other than x86-64 there is none.

#![allow(dead_code)]

use std::ffi::CStr;

/// From its beginning to the end of its scope.
pub struct Region<'a> {
    name: &'a CStr,
}

/// The running thread enters a region, which it leaves when this is dropped.
#[inline(always)]
#[must_use]
pub fn region(name: &CStr) -> Region<'_> {
    start(name);
    Region { name }
}

impl Drop for Region<'_> {
    #[inline(always)]
    fn drop(&mut self) {
        stop(self.name);
    }
}

/// The running thread enters a region.
#[inline(always)]
pub fn start(name: &CStr) {
    #[cfg(target_arch = "x86_64")]
    unsafe {
        std::arch::asm!("nop dword ptr [rax + 0x2b6d6670]", in("rax") name.as_ptr(), options(nostack, preserves_flags));
    }
    let _ = name;
}

/// The running thread leaves a region.
#[inline(always)]
pub fn stop(name: &CStr) {
    #[cfg(target_arch = "x86_64")]
    unsafe {
        std::arch::asm!("nop dword ptr [rax + 0x2d6d6670]", in("rax") name.as_ptr(), options(nostack, preserves_flags));
    }
    let _ = name;
}
