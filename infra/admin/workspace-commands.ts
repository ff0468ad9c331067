import { QUOTAS } from '@tocsin/schemas';
import { systemClock } from '@tocsin/runtime';
import { UsageError } from '../cli/src/operation-parameters.ts';
import { type Command, type Flag, slugFlag } from './command.ts';
import { deleteWorkspace } from './delete-workspace.ts';
import { workspaceView } from './views.ts';

const settingFlags: Record<string, Flag> = {
  demo: { negatable: true, help: 'make it a demo workspace, which sends no webhooks' },
  'history-days': {
    value: 'N',
    help: 'hide incidents older than N days from lists; none shows all incidents',
    parse: parseLimit,
  },
  'reporting-currency': { value: 'CODE', help: 'the currency that amounts are summed in; USD by default' },
  'short-title-required': { negatable: true, help: 'require a short title for incidents' },
  'rate-limit': { value: 'N', help: "requests per minute; none uses the installation's default", parse: parseLimit },
  quota: {
    value: 'NAME=N',
    multiple: true,
    help: `how much it may have of ${Object.keys(QUOTAS).join(', ')}; none: unlimited, default: as for others; repeatable`,
  },
};

type Limit = number | 'none';

interface Settings {
  name?: string;
  demo?: boolean;
  historyDays?: Limit;
  reportingCurrency?: string;
  shortTitleRequired?: boolean;
  rateLimit?: Limit;
  quota?: string[];
}

type Values = Settings & { slug: string };

/** Only the settings that the call names; the others keep their values. */
const settings = ({ demo, historyDays, rateLimit, quota, ...others }: Settings) => ({
  ...others,
  ...(demo !== undefined && { isDemo: demo }),
  ...(historyDays !== undefined && { historyDays: historyDays === 'none' ? null : historyDays }),
  ...(rateLimit !== undefined && { rateLimit: rateLimit === 'none' ? null : rateLimit }),
  ...(quota !== undefined && { quotas: quotas(quota) }),
});

/** @throws UsageError */
function parseLimit(text: string, name: string): Limit {
  if (text === 'none') return text;
  if (!/^\d+(?:\.\d+)?$/.test(text)) throw new UsageError(`${name}: ${text} is neither a number nor none`);
  return Number(text);
}

/** Parses `name=number`, `name=none` and `name=default`. */
function quotas(flags: readonly string[]): Record<string, number | null | 'default'> {
  const changes = flags.map((flag) => {
    const [, name = '', value = ''] = /^([a-z_]+)=(\d{1,10}|none|default)$/.exec(flag) ?? [];
    if (name === '') throw new UsageError(`--quota: ${flag} is not NAME=N, NAME=none or NAME=default`);
    return [name, value === 'none' ? null : value === 'default' ? value : Number(value)] as const;
  });
  const repeated = changes.find(([name], index) => changes.findIndex(([other]) => other === name) < index);
  if (repeated !== undefined) throw new UsageError(`--quota: ${repeated[0]} is given twice`);
  return Object.fromEntries(changes);
}

export const list: Command = {
  flags: {},
  table: {
    rows: 'workspaces',
    columns: ['id', 'slug', 'name', 'is_demo', 'created_at'],
  },
  run: async (_, { gateway }) => ({ workspaces: (await gateway.listWorkspaces()).map(workspaceView) }),
};

export const show: Command = {
  flags: { slug: slugFlag },
  run: async ({ slug: name }: { slug: string }, { gateway }) => ({
    workspace: workspaceView(await gateway.getWorkspace(name)),
  }),
};

export const create: Command = {
  flags: { slug: slugFlag, name: { value: 'NAME', help: 'the display name', required: true }, ...settingFlags },
  run: async ({ slug: label, name, ...values }: Values & { name: string }, { gateway }) => ({
    workspace: workspaceView(await gateway.createWorkspace({ ...settings(values), slug: label, name })),
  }),
};

export const set: Command = {
  flags: { slug: slugFlag, name: { value: 'NAME', help: 'the display name' }, ...settingFlags },
  run: async ({ slug: label, ...values }: Values, { gateway }) => {
    if (Object.keys(values).length === 0) throw new UsageError('there is nothing to set');
    return { workspace: workspaceView(await gateway.setWorkspace({ ...settings(values), slug: label })) };
  },
};

const suspension = (isSuspended: boolean): Command => ({
  flags: { slug: slugFlag },
  run: async ({ slug: name }: { slug: string }, { gateway }) => {
    const { suspendedAt } = await gateway.getWorkspace(name);
    const next = isSuspended ? (suspendedAt ?? systemClock.now()) : null;
    return { workspace: workspaceView(await gateway.setWorkspace({ slug: name, suspendedAt: next })) };
  },
});

export const suspend = suspension(true);
export const resume = suspension(false);

export const remove: Command = {
  flags: {
    slug: slugFlag,
    confirm: { value: 'SLUG', help: 'the same again: nobody can undo this', required: true },
  },
  run: async ({ slug: name, confirm }: { slug: string; confirm: string }, target) => {
    if (confirm !== name) throw new UsageError(`--confirm: must be ${name}`);
    return { deleted: { slug: name, ...(await deleteWorkspace(target, name)) } };
  },
};
