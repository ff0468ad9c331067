import { expect, test } from '@jest/globals';
import { readableIdentity } from '../../console/src/settings/identity.ts';

test.each([
  ['{}:{alertname="DiskFull", service="db"}', 'DiskFull · service db'],
  ['{}/{severity=~"^(?:critical)$"}:{service="دفع", alertname="Slow"}', 'Slow · service دفع'],
  ['{}:{alertname="Says \\"no\\", often"}', 'Says "no", often'],
  ['{}:{}', '{}:{}'],
  ['checkout/latency', 'checkout/latency'],
  ['', ''],
])('the identity %s is shown as %s', (identity, shown) => expect(readableIdentity(identity)).toBe(shown));
