// Package browsertest tests the pages that pho writes, report.html, compare.html and monitor.html, in
// headless Chromium: structure, numbers, layout, accessibility, script. It is a module of
// its own, so that users of the library do not get what drives the browser.
//
// Environment variables:
//
//	PHO_CHROMIUM     the browser; default: chromium, google-chrome or chrome in PATH. The tests
//	                 are skipped where there is none.
//	PHO_BINARY       the command that writes the reports; default: built from this repository.
//	PHO_AXE          the file axe.min.js of axe-core. Without it its rules are not tested.
//	PHO_DATA         real tables; default: ../shared/data beside the repository. Those that are
//	                 not there are skipped.
//	PHO_SCREENSHOTS  a directory for pictures of all pages, to be looked at.
package browsertest
