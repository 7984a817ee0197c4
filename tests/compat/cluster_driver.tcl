# SPDX-License-Identifier: BSD-3-Clause
#
# Runs one file of Redis's tests/cluster, unmodified, and reports every test to the program that started it.
#
#   tclsh cluster_driver.tcl PORT FIRST-PORT SKIPPED UNIT      in the directory of Redis's source
#
# PORT is where the reports go, FIRST-PORT the first port of the servers, SKIPPED a list of tests that are not run. A
# report is a line "kind milliseconds text", the text in hex, as in suite_process.py: testing, ok, err, skip, exception,
# done.
#
# The suite's runner prints for people, so its procedure `test` is replaced after it is read. As there, a failed test
# ends its file.

lassign $argv report_port first_port skipped unit
set report_channel [socket 127.0.0.1 $report_port]
fconfigure $report_channel -translation binary

proc report {kind text {elapsed_ms 0}} {
    puts $::report_channel "$kind $elapsed_ms [binary encode hex [encoding convertto utf-8 $text]]"
    flush $::report_channel
}

proc test_and_report {name code} {
    if {$name in $::skipped} {
        report skip $name
        return
    }
    report testing $name
    set start_ms [clock milliseconds]
    set status [catch {uplevel 1 $code} result options]
    if {$status == 0} {
        report ok $name [expr {[clock milliseconds] - $start_ms}]
        return
    }
    incr ::failed
    report err "$name in tests/$::unit.tcl\n$result"
    if {[string match "assertion:*" $result]} {
        return -code continue
    }
    return -options $options $result
}

# Files are read by `source`: after instances.tcl, `test` can be replaced; an error outside a test ends a file.
rename source suite_source
proc source {path} {
    set status [catch {uplevel 1 [list suite_source $path]} result options]
    if {[file tail $path] eq "instances.tcl"} {
        rename test {}
        rename test_and_report test
        set ::redis_base_port $::first_port
    }
    if {[file dirname $path] eq "../tests"} {
        if {$status == 1} {
            report exception $result
        }
        report done ""
    }
    return -options $options $result
}

set argv [list --single /[file tail $unit].tcl]
source tests/cluster/run.tcl
