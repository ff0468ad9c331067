import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { describeWithDocker } from '@tocsin/testing/suites';
import { parse } from 'yaml';
import { ROOT } from '../../installation/environment.ts';
import { freePorts } from '../../installation/ports.ts';
import { copySources, hasImage, shellIn, withoutDigest } from '../../verification/systems/docker.ts';
import { blocksOf, commandsOf, unknownFlags } from '../../verification/systems/page-commands.ts';
import { temporaryFolder } from '../../verification/systems/running.ts';

const read = (file: string) => readFileSync(path.join(ROOT, file), 'utf8');
const PAGE = read('docs/first-production-day.md');
const LONGEST = 1_500;

const BLOCKS = blocksOf(PAGE);
const COMMANDS = commandsOf(BLOCKS);

const compose = parse(read('docker-compose.yml'), { merge: true }) as {
  services: Record<string, { image?: string; profiles?: string[] }>;
};

describe('the page of the first production day', () => {
  test('is short', () => {
    expect(PAGE.split(/\s+/).length).toBeLessThanOrEqual(LONGEST);
    expect(BLOCKS.length).toBeGreaterThan(10);
  });

  test('names settings, services and profiles that exist', () => {
    const settings = [...PAGE.matchAll(/^([A-Z_]+)=(?!")/gm)].map(([, name = '']) => name);
    expect(settings.length).toBeGreaterThan(3);
    for (const name of settings) expect(read('.env.example')).toMatch(new RegExp(`^#?${name}=`, 'm'));
    const profiles = new Set(Object.values(compose.services).flatMap(({ profiles: each = [] }) => each));
    const commands = COMMANDS.filter((command) => command.includes('docker compose'));
    expect(commands.length).toBeGreaterThan(10);
    for (const command of commands) {
      for (const [, profile] of command.matchAll(/--profile (\S+)/g)) expect(profiles).toContain(profile);
      const [, service] = /compose run (?:--?\S+ |\S+:\S+ )*([a-z]\S*)/.exec(command) ?? [];
      if (command.includes('compose run'))
        expect([command, Object.keys(compose.services)]).toEqual([command, expect.arrayContaining([service])]);
    }
    for (const [, file = ''] of PAGE.matchAll(/ (\.\/[\w./-]+|infra\/[\w./-]+)/g)) {
      if (!file.endsWith('.env')) expect([file, existsSync(path.join(ROOT, file))]).toEqual([file, true]);
    }
  });

  test('has commands of administration with flags that they know', async () => {
    const commands = COMMANDS.flatMap((command) => / admin ([a-z].*?)(?: [|<].*|"?)$/.exec(command)?.[1] ?? []);
    expect(commands.length).toBeGreaterThan(6);
    expect(await unknownFlags(commands)).toEqual([]);
  });
});

/** What a block may need, and whether it is here. */
const HAS: Record<string, () => boolean> = {
  provider: () => false,
  observability: () => ['prometheus', 'alertmanager', 'grafana'].every(isHere),
};
const isHere = (service: string) => hasImage(withoutDigest(compose.services[service]?.image ?? ''));

describeWithDocker('its commands', () => {
  const folder = temporaryFolder();

  test(
    'work in their order',
    async () => {
      const [port, proxyPort] = await freePorts(2);
      const env = {
        ...process.env,
        COMPOSE_PROJECT_NAME: `tocsin-first-day-${process.pid}`,
        TOCSIN_IMAGE: `localhost/tocsin-first-day-${process.pid}`,
        PORT: String(port),
        PROXY_PORT: String(proxyPort),
      };
      const blocks = BLOCKS.filter(({ needs }) => needs === undefined || HAS[needs]?.() === true);
      const script = [
        'set -euo pipefail',
        // No name server knows the domain, and no certification authority reaches this machine.
        `curl() { command curl --insecure --connect-to "::127.0.0.1:$PROXY_PORT" "$@"; }`,
        ...blocks.flatMap((block) => [`cat <<'COMMANDS'\n${block.script}COMMANDS`, block.script]),
      ].join('\n');
      const run = shellIn(folder.path, env);
      await copySources(run);
      try {
        const { code, output } = await run(script.replaceAll('PROXY_TLS=you@example.com', 'PROXY_TLS=internal'));
        expect([code, code === 0 ? '' : output.slice(-5_000)]).toEqual([0, '']);
        for (const shown of ['/app/', 'INC-1', 'restored 1 workspaces and 1 incidents', 'no migration is pending']) {
          expect(output).toContain(shown);
        }
      } finally {
        await run(`docker compose --profile '*' down --volumes --remove-orphans; docker image rm -f "$TOCSIN_IMAGE"`);
      }
    },
    20 * 60_000,
  );
});
