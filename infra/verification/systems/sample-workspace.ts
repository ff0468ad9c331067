import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { eventually, httpClient, reservePorts, startSlack } from '@tocsin/testing';
import { findInstance } from '../../installation/data-dir.ts';
import { startParts } from '../../embedded/start-parts.ts';
import { adminCommand } from './admin-command.ts';
import { runCommand } from './commands.ts';

export type SampleWorkspace = Awaited<ReturnType<typeof startSampleWorkspace>>;

/** Starts what `make start` gives, with a Slack of its own. */
export const startSampleWorkspace = async () =>
  startParts(async (closing, stop) => {
    const folder = await mkdtemp(path.join(tmpdir(), 'tocsin-examples-'));
    closing.push(async () => rm(folder, { recursive: true, force: true }));
    const slack = await startSlack();
    closing.push(slack.stop);
    // The metrics are at the port beside that of the API.
    const [port = 0, , receiverPort = 0] = await reservePorts(3);
    const settings = { TOCSIN_DATA_DIR: folder, PORT: String(port), RECEIVER_PORT: String(receiverPort) };
    const run = (script: string, env: Record<string, string>) => {
      const command = runCommand(script, env);
      closing.push(async () => {
        command.signal('SIGTERM');
        await command.ended();
      });
      return command;
    };
    const instance = run('embedded/main.ts', { ...settings, SLACK_API_URL: slack.url });
    await instance.ready();
    const token = /^token +(tcs_\w+)$/m.exec(instance.output())?.[1] ?? '';
    const admin = adminCommand({ TOCSIN_DATA_DIR: folder });
    const client = httpClient(`http://127.0.0.1:${port}`, { Authorization: `Bearer ${token}` });
    return {
      folder,
      url: `http://localhost:${port}`,
      token,
      /** Sends requests with the token. */
      client,
      admin,
      /** The settings by which commands reach the instance. */
      env: (await findInstance(folder))?.env ?? {},
      /** Starts `make receiver`, and waits until the sample webhook is active. */
      startReceiver: async () => {
        const receiver = run('demo/receiver/main.ts', { TOCSIN_DATA_DIR: folder });
        await eventually(() => receiver.output().includes('is active'));
        return receiver;
      },
      /** Connects the workspace to the Slack. */
      connectSlack: async () => {
        const template = ['--channel-template', 'inc-{id}-{short_title}'];
        await admin('slack', 'connect', '--workspace', 'acme', '--bot-token', slack.token, ...template);
      },
      /** Begins a session, which examples name. */
      signIn: async () => {
        const link = await admin('login-link', '--workspace', 'acme', '--email', 'demo@acme.example');
        const [, linkToken = ''] = String(link.url).split('#');
        const headers = { Authorization: `Bearer ${linkToken}`, 'Sec-Fetch-Site': 'same-origin' };
        const { status, text } = await client.send('POST', '/app/session', undefined, headers);
        if (status !== 204) throw new Error(`cannot sign in: ${text}`);
      },
      stop,
    };
  });
