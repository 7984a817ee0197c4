# Runs at installation, because the unit and the configuration file depend on the prefix. The prefix /usr has its
# configuration in /etc, any other one in its own etc/. An existing configuration file is kept. In a package (DESTDIR)
# the configuration file is in share/ alone, and the package's scripts copy it.

# Replaces `from`, which must be in the text once, so that a change of conf/cairn.conf cannot go unnoticed.
function(replace_once variable from to)
  string(REPLACE "${from}" "" without "${${variable}}")
  string(LENGTH "${${variable}}" before)
  string(LENGTH "${without}" after)
  string(LENGTH "${from}" once)
  math(EXPR removed "${before} - ${after}")
  if(NOT removed EQUAL once)
    message(FATAL_ERROR "conf/cairn.conf does not have this once: ${from}")
  endif()
  string(REPLACE "${from}" "${to}" replaced "${${variable}}")
  set(${variable} "${replaced}" PARENT_SCOPE)
endfunction()

set(CAIRN_BIN ${CMAKE_INSTALL_PREFIX}/bin)
set(CAIRN_CONF ${CMAKE_INSTALL_PREFIX}/etc/cairn)
if(CMAKE_INSTALL_PREFIX STREQUAL "/usr")
  set(CAIRN_CONF /etc/cairn)
endif()

set(unit "$ENV{DESTDIR}${CMAKE_INSTALL_PREFIX}/lib/systemd/system/cairn.service")
configure_file(${CAIRN_SOURCE}/conf/systemd/cairn.service.in ${unit} @ONLY)
message(STATUS "Installing: ${unit}")

set(conf "${CAIRN_CONF}/cairn.conf")
if(DEFINED ENV{DESTDIR})
  set(conf "$ENV{DESTDIR}${CMAKE_INSTALL_PREFIX}/share/cairn/cairn.conf")
endif()
if(EXISTS ${conf})
  message(STATUS "Kept: ${conf}")
else()
  file(READ ${CAIRN_SOURCE}/conf/cairn.conf text)
  replace_once(text "Every directive is here once, at its default.\n"
    "Every directive is here once, at its default,\n# except dir and bind: others are served when bind is changed.\n")
  replace_once(text "\ndir ./data\n" "\ndir /var/lib/cairn\n")
  replace_once(text "\nbind * -::*\n" "\nbind 127.0.0.1 -::1\n")
  file(WRITE ${conf} "${text}")
  message(STATUS "Installing: ${conf}")
endif()
