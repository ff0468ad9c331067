import { ConfigError, parseSecretKeys } from '@tocsin/runtime';
import { countUnopenedSecrets } from '../../../gateway/src/administration.ts';
import { countUnopenedAddresses } from '../../../services/catalog/src/administration.ts';
import { countUnopenedTokens, countUnopenedTrackers } from '../../../services/incident/src/administration.ts';
import { countUnopened } from '../../../services/webhook/src/administration.ts';
import { type Check, type Finding, note, ok, problem } from './check.ts';

/** Secrets of each kind that are opened, the latest ones. */
const LIMIT = 2_000;

/** Looks for secrets that none of the configured keys opens. */
export const SECRET_CHECK: Check = {
  name: 'secrets',
  run: async ({ database, secretKeys: readKeys }) => {
    const secretKeys = readKeys();
    // Malformed keys are an error of their own.
    parseSecretKeys(secretKeys);
    const findings: Finding[] = [];
    let opened = 0;
    const report = (what: string, { checked, unopened }: { checked: number; unopened: number }, solution: string) => {
      opened += checked - unopened;
      if (unopened > 0) findings.push(problem(`no key opens ${unopened} of ${checked} ${what}: ${solution}`));
    };
    await tryWith('webhook', findings, async () => {
      const { secret, url } = await countUnopened(database('webhook'), { secretKeys, limit: LIMIT });
      report('signing secrets of webhooks', secret, 'bring the key back, or rotate them');
      report('addresses of webhooks', url, 'bring the key back, or create the webhooks again');
    });
    await tryWith('incident', findings, async () => {
      const tokens = await countUnopenedTokens(database('incident'), { secretKeys, limit: LIMIT });
      report('Slack tokens', tokens, 'bring the key back, or connect Slack again');
    });
    await tryWith('catalog', findings, async () => {
      const addresses = await countUnopenedAddresses(database('catalog'), { secretKeys, limit: LIMIT });
      report('addresses of who is on call', addresses, 'bring the key back, or set them again');
    });
    await tryWith('the trackers of incident', findings, async () => {
      const trackers = await countUnopenedTrackers(database('incident'), { secretKeys, limit: LIMIT });
      report('addresses of trackers', trackers, 'bring the key back, or set the credentials again');
    });
    await tryWith('gateway', findings, async () => {
      const secrets = await countUnopenedSecrets(database('gateway'), { secretKeys, limit: LIMIT });
      report('client secrets of OIDC', secrets, 'bring the key back, or connect the providers again');
    });
    return findings.some(({ status }) => status === 'problem')
      ? findings
      : [ok(`the keys open ${opened} secrets`), ...findings];
  },
};

/** Administration may have the keys of some purposes only; the metrics of the services cover the others. */
async function tryWith(app: string, findings: Finding[], work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    findings.push(note(`the secrets of ${app} are not checked, because this process does not have their keys`));
  }
}
