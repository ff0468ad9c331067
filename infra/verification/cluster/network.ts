import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chown, mkdir, open, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { enter, type Namespace, shell, signalAll, startNamespace } from './namespace.ts';

const run = promisify(execFile);

/** A program that a machine runs from its boot on. */
interface Program {
  command: string;
  args: readonly string[];
  env?: Readonly<Record<string, string>>;
}

/** Namespaces that stand for a machine, with an address in the network. */
export interface Machine {
  readonly name: string;
  readonly address: string;
  /** For its files, which stay when it is killed. */
  readonly folder: string;
  /** Starts these programs now, and whenever the machine is booted. */
  boot(programs?: readonly Program[]): Promise<void>;
  /** Ends all its processes at once, as if it lost its power. */
  kill(): Promise<void>;
  /** Stops all its processes; the system still accepts connections for them. */
  freeze(): Promise<void>;
  thaw(): Promise<void>;
  /** Drops all packets to it and from it, and tells nobody. */
  cut(): Promise<void>;
  /** Drops all packets between it and these machines, and tells nobody. */
  cutFrom(others: readonly Machine[]): Promise<void>;
  mend(): Promise<void>;
  /** Runs a tool on it. Returns what that prints. */
  call(program: Program): Promise<string>;
}

export interface Network {
  /** In the notation of CIDR. */
  readonly subnet: string;
  readonly machines: readonly Machine[];
  /** Kills all machines, and removes the network. */
  stop(): Promise<void>;
}

/** An address of the hardware that nobody has. */
const NOWHERE = '02:00:c6:12:00:00';
/** The number of this machine, outside of the namespaces. */
const OUTSIDE = 254;
/** Runs all programs: PostgreSQL refuses to run as root. */
const USER = 'postgres';
/** Milliseconds, for a tool. */
const CALL_TIMEOUT = 60_000;

/**
 * Starts a network with a switch, to which this machine is connected, too.
 * @param names of the machines, each of which gets a folder in `folder`, and a log file beside it
 * @param number 1 to 254; no two networks at a time have the same
 */
// Its machines are made of what it has begun with.
// oxlint-disable-next-line eslint/max-lines-per-function
export async function startNetwork(folder: string, names: readonly string[], number: number): Promise<Network> {
  const addressOf = (host: number) => `198.18.${number}.${host}`;
  const hardwareOf = (host: number) => `02:00:c6:12:${number.toString(16)}:${host.toString(16)}`;
  const ids = await Promise.all(['-u', '-g'].map(async (which) => run('id', [which, USER])));
  const [uid = 0, gid = 0] = ids.map(({ stdout }) => Number(stdout));
  const hosts = path.join(folder, 'hosts');
  await writeFile(
    hosts,
    ['127.0.0.1 localhost', ...names.map((name, i) => `${addressOf(i + 1)} ${name}\n`)].join('\n'),
  );
  const middle = await startNamespace('ip link add switch type bridge; ip link set switch up');
  const othersOf = (host: number) =>
    [...names.keys().map((index) => index + 1), OUTSIDE].filter((other) => other !== host);
  const neighbour = (address: string, hardware: string, device: string) =>
    `ip neighbour replace ${address} lladdr ${hardware} dev ${device} nud permanent`;
  const portUp = async (host: number) => shell(`ip link set port${host} master switch up`, middle);

  /** All know the hardware addresses of all: otherwise they would learn within seconds that a machine has gone. */
  const connect = async (host: number, device: string, space?: Namespace) => {
    const place = space === undefined ? '' : `netns ${space.pid}`;
    await shell(`ip link add port${host} netns ${middle.pid} type veth peer name ${device} ${place}`);
    await portUp(host);
    const lines = [
      `ip link set ${device} address ${hardwareOf(host)} up`,
      `ip address add ${addressOf(host)}/24 dev ${device}`,
      ...othersOf(host).map((other) => neighbour(addressOf(other), hardwareOf(other), device)),
    ];
    await shell(lines.join('\n'), space);
  };

  const machineOf = async (name: string, host: number): Promise<Machine> => {
    const home = path.join(folder, name);
    await mkdir(home, { mode: 0o700 });
    await chown(home, uid, gid);
    const base = { PATH: process.env['PATH'], LANG: 'C.UTF-8', HOME: home };
    let programs: readonly Program[] = [];
    let space: Namespace | undefined;
    const entered = new Set<ChildProcess>();
    const running = () => {
      if (space === undefined) throw new Error(`${name} is not running`);
      return space;
    };
    const start = async ({ command, args, env }: Program) => {
      const log = await open(`${home}.log`, 'a');
      // Ctrl-C in a terminal must not reach it before the apps have stopped.
      const child = spawn(
        'setpriv',
        ['--pdeathsig', 'KILL', 'nsenter', ...enter(running(), { uid, gid }), command, ...args],
        {
          ...{ cwd: home, env: { ...base, ...env }, detached: true, stdio: ['ignore', log.fd, log.fd] },
        },
      );
      entered.add(child);
      await once(child, 'spawn');
      await log.close();
    };
    return {
      ...{ name, address: addressOf(host), folder: home },
      boot: async (started = programs) => {
        programs = started;
        space = await startNamespace('mount --bind "$1" /etc/hosts; hostname "$2"', hosts, name);
        await connect(host, 'eth0', space);
        for (const program of programs) await start(program);
      },
      kill: async () => {
        // First: one that stopped with its program would keep the namespace.
        for (const child of entered) child.kill('SIGKILL');
        entered.clear();
        await space?.end();
        space = undefined;
      },
      freeze: async () => signalAll(running(), 'SIGSTOP'),
      thaw: async () => signalAll(running(), 'SIGCONT'),
      cut: async () => shell(`ip link set port${host} nomaster`, middle),
      // Nothing that it answers arrives, so that it and they agree that they do not reach each other.
      cutFrom: async (others) =>
        shell(others.map(({ address }) => neighbour(address, NOWHERE, 'eth0')).join('\n'), running()),
      mend: async () => {
        const lines = othersOf(host).map((other) => neighbour(addressOf(other), hardwareOf(other), 'eth0'));
        await shell(lines.join('\n'), running());
        await portUp(host);
      },
      call: async ({ command, args, env }) => {
        const options = { cwd: home, env: { ...base, ...env }, timeout: CALL_TIMEOUT };
        const { stdout } = await run('nsenter', [...enter(running(), { uid, gid }), command, ...args], options);
        return stdout;
      },
    };
  };

  try {
    await connect(OUTSIDE, `tocsin${number}`);
    const machines: Machine[] = [];
    for (const [index, name] of names.entries()) machines.push(await machineOf(name, index + 1));
    const stop = async () => {
      await Promise.all(machines.map(async (machine) => machine.kill()));
      await middle.end();
    };
    return { subnet: `${addressOf(0)}/24`, machines, stop };
  } catch (error) {
    await middle.end();
    throw error;
  }
}
