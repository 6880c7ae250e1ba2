"""Logs in, verifies and refreshes with what openapi-python-client made."""

import os

from tenant_auth import Client
from tenant_auth.api.server_to_server import verify_token
from tenant_auth.api.sessions import login, refresh
from tenant_auth.models import Error, LoginRequest, RefreshRequest, SecondFactorRequired, ValidToken, VerifyRequest

ORG = "acme"
auth = Client(base_url=os.environ["AUTH_URL"] + "/api/v1")
backend = auth.with_headers({"X-API-Key": os.environ["API_KEY"]})


def data(answer):
    """The data of a success; a refusal names its code."""
    if isinstance(answer, Error):
        raise SystemExit(f"{answer.code}: {answer.message}")
    return answer.data


def verified(token):
    """Whoever the token belongs to, suspended or not."""
    answer = data(verify_token.sync(client=backend, body=VerifyRequest(token=token), x_org_slug=ORG))
    return answer.user.email if isinstance(answer, ValidToken) else None


credentials = LoginRequest(email=os.environ["EMAIL"], password=os.environ["PASSWORD"])
session = data(login.sync(client=auth, body=credentials, x_org_slug=ORG))
if isinstance(session, SecondFactorRequired):
    raise SystemExit("this account has a second factor")
print("logged in:", verified(session.access_token))
renewed = data(refresh.sync(client=auth, body=RefreshRequest(refresh_token=session.refresh_token), x_org_slug=ORG))
print("refreshed:", verified(renewed.access_token))
print("before:", verified(session.access_token))
wrong = LoginRequest(email=os.environ["EMAIL"], password="not the password")
print("refused:", login.sync(client=auth, body=wrong, x_org_slug=ORG).code)
