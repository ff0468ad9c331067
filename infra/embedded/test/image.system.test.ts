import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from '@jest/globals';
import { eventually } from '@tocsin/testing';
import { describeWithDocker } from '@tocsin/testing/suites';
import { ROOT } from '../../installation/environment.ts';
import { freePorts } from '../../installation/ports.ts';
import { copySources, shellIn } from '../../verification/systems/docker.ts';
import { temporaryFolder } from '../../verification/systems/running.ts';

/** The commands of the README that begin like this. */
const blockOf = (start: string): string => {
  const blocks = Array.from(readFileSync(path.join(ROOT, 'README.md'), 'utf8').matchAll(/^```sh\n([^]*?)^```$/gm));
  return blocks.map(([, script = '']) => script).find((script) => script.startsWith(start)) ?? '';
};

describeWithDocker('the image of everything in one process', () => {
  const folder = temporaryFolder();

  test(
    'runs by the line of the README, answers its request, and keeps its data when another container gets the volume',
    async () => {
      const [port] = await freePorts(1);
      const name = `tocsin-embedded-${process.pid}`;
      const [build = '', line = '', more] = blockOf('docker build')
        .replaceAll('localhost/tocsin:embedded', `localhost/${name}`)
        .replace('--name tocsin ', `--detach --name ${name} `)
        .replace('127.0.0.1:8080:', `127.0.0.1:${port}:`)
        .replace('-v tocsin:', `-v ${name}:`)
        .split('\n');
      expect([line, more]).toEqual([expect.stringContaining(`docker run --detach --name ${name} `), '']);
      const shell = shellIn(folder.path);
      const run = async (script: string) => {
        const { code, output } = await shell(script);
        expect([script, code, code === 0 ? '' : output]).toEqual([script, 0, '']);
        return output.trim();
      };
      /** The token that a healthy container has printed. */
      const start = async (command: string) => {
        await run(command);
        const health = `docker inspect --format '{{.State.Health.Status}}' ${name}`;
        await eventually(async () => (await run(health)) === 'healthy', { what: 'health' });
        return /^token +(tcs_\w+)$/m.exec(await run(`docker logs ${name}`))?.[1];
      };
      const request = async (token: string) => {
        const script = blockOf('curl').replace('curl', 'curl --silent').replace('localhost:8080', `localhost:${port}`);
        return JSON.parse(await run(`TOKEN=${token}\n${script}`)).incident;
      };

      await copySources(shell);
      try {
        await run(build);
        const token = (await start(line)) ?? '';
        const incident = await request(token);
        expect(incident).toMatchObject({ human_id: 'INC-4', title: 'Checkout is down' });
        expect(await run(`docker exec ${name} id --user`)).toBe('1000');
        await run(`docker stop ${name}`);
        expect(await run(`docker inspect --format '{{.State.ExitCode}}' ${name}`)).toBe('0');
        expect(await start(`docker start ${name}`)).toBe(token);
        expect(await request(token)).toEqual(incident);
        // As after a crash: the next container finds the files of processes that are gone.
        await run(`docker rm --force ${name}`);
        expect(await start(line)).toBe(token);
        expect(await request(token)).toEqual(incident);
      } finally {
        await shell(`docker rm --force ${name}; docker volume rm ${name}; docker image rm --force localhost/${name}`);
      }
    },
    20 * 60_000,
  );
});
