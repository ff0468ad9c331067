# Clients of PagerDuty: the server acme.tocsin.example.com/api/v1/alerts/pagerduty, and tcs_… as the routing key.
# The address alone, where nothing else can be set:
# https://monitor:tcs_…@acme.tocsin.example.com/api/v1/alerts/pagerduty
curl -sS --fail-with-body --retry 5 -u monitor:tcs_… https://acme.tocsin.example.com/api/v1/alerts/pagerduty \
  -H 'Content-Type: application/json' -d '{
    "event_action": "trigger",
    "dedup_key": "checkout/latency",
    "payload": { "summary": "Checkout is slow", "source": "probe-1", "severity": "warning" }
  }'
