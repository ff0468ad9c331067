import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Environment } from '@tocsin/runtime';
import { type Client, eventually, type FakeSlack, httpClient, startSlack } from '@tocsin/testing';
import { findInstance } from '../data-dir.ts';
import { freePorts } from '../ports.ts';
import { type AdminCommand, adminCommand } from '../verification/systems/admin-command.ts';
import { runCommand, type RunningCommand } from '../verification/systems/commands.ts';

/** What `make start` gives, with a Slack of its own. */
export interface SampleWorkspace {
  folder: string;
  url: string;
  token: string;
  /** Sends requests with the token. */
  client: Client;
  admin: AdminCommand;
  /** The settings by which commands reach the instance. */
  env: Environment;
  /** Starts `make receiver`, and waits until the sample webhook is active. */
  startReceiver(): Promise<RunningCommand>;
  /** Connects the workspace to the Slack. */
  connectSlack(): Promise<void>;
  /** Begins a session, which examples name. */
  signIn(): Promise<void>;
  stop(): Promise<void>;
}

export async function startSampleWorkspace(): Promise<SampleWorkspace> {
  const folder = await mkdtemp(path.join(tmpdir(), 'tocsin-examples-'));
  const slack: FakeSlack = await startSlack();
  const [port = 0, receiverPort = 0] = await freePorts(2);
  const settings = { TOCSIN_DATA_DIR: folder, PORT: String(port), RECEIVER_PORT: String(receiverPort) };
  const started = [runCommand('embedded/main.ts', { ...settings, SLACK_API_URL: slack.url })];
  const stop = async () => {
    for (const command of started.reverse()) {
      command.signal('SIGTERM');
      await command.ended();
    }
    await slack.stop();
    await rm(folder, { recursive: true, force: true });
  };
  try {
    const [instance] = started as [RunningCommand];
    await instance.ready();
    const token = /^token +(tcs_\w+)$/m.exec(instance.output())?.[1] ?? '';
    const admin = adminCommand({ TOCSIN_DATA_DIR: folder });
    const client = httpClient(`http://127.0.0.1:${port}`, { Authorization: `Bearer ${token}` });
    return {
      folder,
      url: `http://localhost:${port}`,
      token,
      client,
      admin,
      env: (await findInstance(folder))?.env ?? {},
      startReceiver: async () => {
        const receiver = runCommand('receiver/main.ts', { TOCSIN_DATA_DIR: folder });
        started.push(receiver);
        await eventually(() => receiver.output().includes('is active'), { within: 60_000 });
        return receiver;
      },
      connectSlack: async () => {
        const template = ['--channel-template', 'inc-{id}-{short_title}'];
        await admin('slack', 'connect', '--workspace', 'acme', '--bot-token', slack.token, ...template);
      },
      signIn: async () => {
        const link = await admin('login-link', '--workspace', 'acme', '--email', 'demo@acme.example');
        const [, linkToken = ''] = String(link.url).split('#');
        const headers = { Authorization: `Bearer ${linkToken}`, 'Sec-Fetch-Site': 'same-origin' };
        const { status, text } = await client.send('POST', '/app/session', undefined, headers);
        if (status !== 204) throw new Error(`cannot sign in: ${text}`);
      },
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}
