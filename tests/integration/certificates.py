# SPDX-License-Identifier: BSD-3-Clause
"""Certificates for tests of TLS, made by the openssl command for 127.0.0.1 and for the duration of the tests."""

import pathlib
import ssl
import subprocess

import redis
from harness import free_port

PASSWORD = "open sesame"


def openssl(*arguments):
    """Runs the openssl command."""
    subprocess.run(["openssl", *map(str, arguments)], check=True, capture_output=True)


class Certificates:
    """A CA and certificates it has signed, and another CA that no server trusts."""

    def __init__(self, directory):
        self.directory = pathlib.Path(directory)
        for authority in ("ca", "foreign-ca"):
            openssl("req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", f"/CN={authority}",
                    "-keyout", self.key(authority), "-out", self.cert(authority))
        for name, authority in (("server", "ca"), ("renewed", "ca"), ("client", "ca"), ("foreign", "foreign-ca")):
            request = self.directory / f"{name}.csr"
            extensions = self.directory / f"{name}.ext"
            extensions.write_text("subjectAltName=IP:127.0.0.1\n", encoding="ascii")
            openssl("req", "-new", "-newkey", "rsa:2048", "-nodes", "-subj", f"/CN={name}",
                    "-keyout", self.key(name), "-out", request)
            openssl("x509", "-req", "-in", request, "-CA", self.cert(authority), "-CAkey", self.key(authority),
                    "-CAcreateserial", "-days", "2", "-extfile", extensions, "-out", self.cert(name))
        openssl("rsa", "-aes256", "-passout", "pass:" + PASSWORD, "-in", self.key("server"),
                "-out", self.key("locked"))

    def cert(self, name):
        """The path of a certificate."""
        return str(self.directory / f"{name}.crt")

    def key(self, name):
        """The path of a private key."""
        return str(self.directory / f"{name}.key")

    def directives(self, **others):
        """The directives of a TLS port."""
        return {"tls_port": free_port(), "tls_cert_file": self.cert("server"), "tls_key_file": self.key("server"),
                "tls_ca_cert_file": self.cert("ca"), **others}

    def context(self, name="client"):
        """A client's TLS context; without a name it has no certificate."""
        context = ssl.create_default_context(cafile=self.cert("ca"))
        if name:
            context.load_cert_chain(self.cert(name), self.key(name))
        return context

    def client(self, port, name="client", **options):
        """A redis-py client."""
        own = {"ssl_certfile": self.cert(name), "ssl_keyfile": self.key(name)} if name else {}
        return redis.Redis("127.0.0.1", port, ssl=True, ssl_ca_certs=self.cert("ca"), **own, **options)
