# What `cmake --install` installs besides the embedded library: the programs, their manual pages, the configuration and
# the service.
#   cmake --install build/release --prefix /usr/local --component server
include(GNUInstallDirs)

install(TARGETS cairn-server cairn-check cairn-copy cairn-doctor cairn-export cairn-import cairn-restore
  RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT server)
file(GLOB pages CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/docs/man/*.1)
install(FILES ${pages} DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT server)
install(FILES ${CMAKE_SOURCE_DIR}/conf/systemd/sysusers.conf DESTINATION lib/sysusers.d RENAME cairn.conf
  COMPONENT server)
install(FILES ${CMAKE_SOURCE_DIR}/conf/debian/copyright DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT server)
install(CODE "set(CAIRN_SOURCE \"${CMAKE_SOURCE_DIR}\")" COMPONENT server)
install(SCRIPT ${CMAKE_SOURCE_DIR}/conf/install_service.cmake COMPONENT server)
