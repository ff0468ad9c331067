/**
 * `kubernetes` is an installation in a cluster: kustomizations, parts of which are generated, and examples of servers.
 * `npm run -s kubernetes -- --domain incidents.example.com --out DIR` writes the manifests of one installation;
 * README.md has the options. Secrets are generated once and kept in the folder, so the same call changes none; with
 * `--secrets external` none are written, and their names are printed. Servers that the environment does not name come
 * from the examples. Only the owner can read the files. Nothing is applied: the command prints what to do, at the first
 * roll-out and at every later one, with the migrations before the apps, so that both releases run on the new schema
 * (ADR 37).
 */
import path from 'node:path';
import { parseArgs } from 'node:util';
import { ConfigError, withFileSettings } from '@tocsin/runtime';
import { runScript } from '../installation/run-script.ts';
import { INGRESSES, type ManifestOptions, writeManifests } from './write-manifests.ts';

/** @throws ConfigError naming the option */
function chosen<Value extends string>(option: string, value: string, values: readonly Value[]): Value {
  const choice = values.find((each) => each === value);
  if (choice === undefined) throw new ConfigError(`--${option}: must be ${values.join(', ')}`);
  return choice;
}

function options(): ManifestOptions {
  const { values } = parseArgs({
    options: {
      domain: { type: 'string' },
      out: { type: 'string' },
      image: { type: 'string' },
      secrets: { type: 'string', default: 'generated' },
      ingress: { type: 'string', default: 'ingress' },
      'ingress-class': { type: 'string' },
      ca: { type: 'string' },
      set: { type: 'string', multiple: true, default: [] },
    },
  });
  const { domain, out, image, ca, 'ingress-class': ingressClass } = values;
  if (domain === undefined || out === undefined) {
    throw new ConfigError('usage: npm run -s kubernetes -- --domain incidents.example.com --out DIR');
  }
  const settings = values.set.map((pair) => {
    const [, name, value] = /^([A-Z_]+)=(.*)$/s.exec(pair) ?? [];
    if (name === undefined || value === undefined) throw new ConfigError(`--set: must be NAME=VALUE, not ${pair}`);
    return [name, value] as const;
  });
  return {
    domain,
    out: path.resolve(out),
    ...(image !== undefined && { image }),
    secrets: chosen('secrets', values.secrets, ['generated', 'external']),
    ingress: chosen('ingress', values.ingress, INGRESSES),
    ...(ingressClass !== undefined && { ingressClass }),
    ...(ca !== undefined && { ca }),
    settings: Object.fromEntries(settings),
  };
}

await runScript(async () => {
  const chosenOptions = options();
  const steps = await writeManifests(chosenOptions, withFileSettings(process.env));
  console.log(
    ['', `in ${chosenOptions.out}, at the first roll-out and at every later one:`, ...steps].join('\n  ').trim(),
  );
});
