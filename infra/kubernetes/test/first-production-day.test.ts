import { spawnSync } from 'node:child_process';
import { existsSync, globSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { describeWithProgram } from '@tocsin/testing/suites';
import { parse, parseAllDocuments } from 'yaml';
import { ROOT } from '../../installation/environment.ts';
import { blocksOf, commandsOf, unknownFlags } from '../../verification/systems/page-commands.ts';
import { temporaryFolder } from '../../verification/systems/running.ts';

const LONGEST = 900;
const read = (file: string) => readFileSync(path.join(ROOT, file), 'utf8');
const PAGE = read('docs/first-production-day-kubernetes.md');
const BLOCKS = blocksOf(PAGE);
const isInCluster = (script: string) => script.startsWith('# cluster\n');
const COMMANDS = commandsOf(BLOCKS);
const KUBECTL = COMMANDS.filter((command) => command.startsWith('kubectl '));
/** The files that the reader writes: secrets. */
const BY_HAND = ['client-secret', 'dns-token', 'backup-password'].map((name) => `production/kept/${name}`);

// eslint-disable-next-line @typescript-eslint/no-explicit-any
type Manifest = any;

const folder = temporaryFolder();
const at = (file: string) => path.join(folder.path, file);

/** Runs blocks in a folder that has the files of the clone. */
function run(blocks: readonly string[]) {
  const script = [
    'set -euo pipefail',
    `ln -sfn '${ROOT}/infra' infra`,
    'TOKEN=tcs_of_our_own',
    // The command that `npm run -s kubernetes --` runs in the clone.
    `npm() { shift 4; '${process.execPath}' infra/kubernetes/main.ts "$@"; }`,
    ...blocks,
  ].join('\n');
  const { status, stdout, stderr } = spawnSync('bash', ['-c', script], { cwd: folder.path, encoding: 'utf8' });
  expect([status, status === 0 ? '' : stderr]).toEqual([0, '']);
  return stdout;
}

/** What the files in the folder `production` declare. */
let manifests: Manifest[];
const readManifests = (): Manifest[] =>
  globSync('production/*.yaml', { cwd: folder.path }).flatMap((file) =>
    parseAllDocuments(readFileSync(at(file), 'utf8')).map((document) => document.toJS()),
  );
const find = (kind: string, name: string): Manifest =>
  manifests.find((each) => each.kind.toLowerCase() === kind && each.metadata.name === name);

let steps: string;
beforeAll(() => {
  writeFileSync(at('authorities.pem'), '-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n');
  const local = BLOCKS.map(({ script }) => script).filter((script) => !isInCluster(script));
  steps = run(local.filter((script) => !/^ *kubectl /m.test(script)));
  manifests = readManifests();
});

describe('the page of the first production day on Kubernetes', () => {
  test('is short, and has the steps of Compose', () => {
    expect(PAGE.split(/\s+/).length).toBeLessThanOrEqual(LONGEST);
    const headings = (text: string) => [...text.matchAll(/^## \d.*$/gm)].map(([heading]) => heading);
    expect(headings(PAGE)).toEqual(headings(read('docs/first-production-day.md')));
    expect(BLOCKS.filter(({ script }) => isInCluster(script)).length).toBeGreaterThan(6);
  });

  test('makes what the commands print, with the domain, the URLs and the authorities', () => {
    const applied = COMMANDS.join('\n');
    for (const [step] of steps.matchAll(/(?:kubectl|rabbitmqctl) [a-z].*?(?=  |$)/gm)) {
      const words = step.split(' ').filter((word) => /\.(?:yaml|json)$|^job\/|^--timeout|^--for/.test(word));
      for (const word of words) expect([step, applied + PAGE]).toEqual([step, expect.stringContaining(word)]);
    }
    expect(find('secret', 'tocsin-migrate').stringData.DATABASE_URL).toMatch(
      /@db\.example\.com:5432\/tocsin\?sslmode=/,
    );
    expect(find('secret', 'tocsin-incident').stringData).toMatchObject({
      AMQP_URL: expect.stringMatching(/^amqps:.*@mq\.example\.com/),
      REDIS_URL: expect.stringMatching(/^rediss:/),
    });
    expect(find('configmap', 'tocsin').data).toMatchObject({
      TRUSTED_PROXIES: '10.0.0.0/8',
      NODE_EXTRA_CA_CERTS: expect.stringContaining('ca.crt'),
    });
    expect(find('certificate', 'tocsin-wildcard-certificate').spec).toMatchObject({
      secretName: find('gateway', 'tocsin').spec.listeners[0].tls.certificateRefs[0].name,
      dnsNames: ['incidents.example.com', '*.incidents.example.com'],
    });
    expect(find('gateway', 'tocsin').spec.gatewayClassName).toBe('envoy');
    expect(JSON.stringify(manifests)).not.toContain('tocsin.example.com');
    const { receivers } = parse(readFileSync(at('production/kept/alertmanager.yaml'), 'utf8'));
    expect(receivers[0].webhook_configs[0]).toMatchObject({
      url: expect.stringMatching(/^https:\/\/acme\.incidents\.example\.com\//),
      http_config: { authorization: { credentials: 'tcs_of_our_own' } },
    });
    expect(readFileSync(at('production/.gitignore'), 'utf8')).toContain('kept/\n');
  });

  test('backs up with the image and the script of Compose, what is mounted is there, and PostgreSQL is reachable', () => {
    const { template } = find('cronjob', 'backup').spec.jobTemplate.spec;
    const [{ image, command, volumeMounts, env }] = template.spec.containers;
    const { services } = parse(read('docker-compose.yml'), { merge: true });
    expect(image).toBe(services.backup.image);
    expect(command.join(' ')).toMatch(/backup\.sh once && sh \/script\/backup\.sh drill$/);
    const volumes = template.spec.volumes.map(({ name }: Manifest) => name);
    expect(volumes.toSorted()).toEqual(volumeMounts.map(({ name }: Manifest) => name).toSorted());
    const { claimName } = template.spec.volumes.find((each: Manifest) => each.name === 'backups').persistentVolumeClaim;
    expect(find('persistentvolumeclaim', claimName)).toBeDefined();
    for (const name of ['configmap', 'secret generic']) expect(COMMANDS.join('\n')).toContain(`${name} tocsin-backup`);
    expect(env).toContainEqual({ name: 'PGHOST', value: 'db.example.com' });
    const policies = parseAllDocuments(read('infra/kubernetes/network-policies.yaml')).map((each) => each.toJS());
    const { podSelector } = policies.find(({ metadata }: Manifest) => metadata.name === 'servers').spec;
    expect(template.metadata.labels).toMatchObject(podSelector.matchLabels);
  });

  test('names files that are there, and things that they declare', () => {
    expect(KUBECTL.length).toBeGreaterThan(20);
    const redirected = COMMANDS.flatMap((command) => / > (production\/\S+)/.exec(command)?.[1] ?? []);
    for (const command of COMMANDS) {
      for (const [, file = ''] of command.matchAll(/(?: -f | -k |=|< )((?:production|infra)\/[\w./-]+)/g))
        expect([command, existsSync(at(file)) || redirected.includes(file) || BY_HAND.includes(file)]).toEqual([
          command,
          true,
        ]);
    }
    const jobs = COMMANDS.flatMap((command) => / create job .* (\S+)$/.exec(command)?.[1] ?? []);
    for (const [, kind = '', name = ''] of KUBECTL.join('\n').matchAll(
      /\b(job|cronjob|pod|deployment|certificate)\/([\w-]+)/g,
    ))
      expect([kind, name, find(kind, name) !== undefined || jobs.includes(name)]).toEqual([kind, name, true]);
  });

  test('has commands of administration with flags that they know', async () => {
    const commands = COMMANDS.flatMap(
      (command) => /^(?:TOKEN="\$\()?admin ([a-z].*?)(?: [|<].*)?$/.exec(command)?.[1] ?? [],
    );
    expect(commands.length).toBeGreaterThan(6);
    expect(await unknownFlags(commands)).toEqual([]);
  });
});

describeWithProgram('kubectl')('kubectl', () => {
  const kubectl = (args: readonly string[], input = '') => spawnSync('kubectl', args, { input, encoding: 'utf8' });

  test('runs the commands that need no cluster', () => {
    run(BLOCKS.map(({ script }) => script).filter((script) => !isInCluster(script)));
    manifests = readManifests();
    expect(find('configmap', 'tocsin-backup').data['backup.sh']).toBe(read('infra/compose/backup.sh'));
    const folders = KUBECTL.flatMap((command) => / -k (\S+)/.exec(command)?.[1] ?? []);
    expect(folders.length).toBeGreaterThan(0);
    for (const name of folders)
      expect(kubectl(['kustomize', path.join(ROOT, name)])).toMatchObject({ status: 0, stderr: '' });
  });

  test('knows the flags of the others', () => {
    const helps = new Map<string, string>();
    for (const command of KUBECTL) {
      const [, verb = ''] =
        /^kubectl ((?:create (?:configmap|job|namespace|secret generic))|rollout status|[a-z]+)/.exec(command) ?? [];
      if (!helps.has(verb))
        helps.set(verb, kubectl([...verb.split(' '), '--help']).stdout + kubectl(['options']).stdout);
      // Those of administration follow the program of the pod.
      for (const [, flag = ''] of command.replace(/ -- .*/, '').matchAll(/ (--?[a-z][a-z-]*)/g))
        expect([command, helps.get(verb)]).toEqual([
          command,
          expect.stringContaining(flag.startsWith('--') ? ` ${flag}=` : ` ${flag}, --`),
        ]);
    }
  });

  test('finds only properties of the right types in what makes pods', () => {
    const pods = manifests.filter(({ kind }) => ['CronJob', 'Deployment', 'Job', 'Pod'].includes(kind));
    expect(pods.length).toBeGreaterThan(7);
    for (const manifest of pods) {
      // It reads the manifest as the types of Kubernetes, and forgets what they do not have.
      const { status, stdout, stderr } = kubectl(
        ['set', 'image', '--local', '-f', '-', '*=image', '-o', 'json'],
        JSON.stringify(manifest),
      );
      expect([manifest.metadata.name, status, stderr]).toEqual([manifest.metadata.name, 0, '']);
      expect(JSON.parse(stdout)).toMatchObject(
        JSON.parse(JSON.stringify(manifest).replaceAll(/"image":"[^"]*"/g, '"image":"image"')),
      );
    }
  });
});
