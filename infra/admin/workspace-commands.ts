import { QUOTAS } from '@tocsin/contracts';
import type { Command, Flag } from './command.ts';
import { configureWorkspace } from './configure-workspace.ts';
import type { FlagValues } from './flag-values.ts';
import { UsageError } from './target.ts';
import { workspaceView } from './views.ts';

const slug: Flag = { value: 'SLUG', help: 'the first label of its host name', required: true };

const settingFlags: Record<string, Flag> = {
  demo: { negatable: true, help: 'make it a demo workspace, which sends no webhooks' },
  'history-days': { value: 'N', help: 'hide incidents older than N days from lists; none shows all incidents' },
  'reporting-currency': { value: 'CODE', help: 'the currency that amounts are summed in; USD by default' },
  'short-title-required': { negatable: true, help: 'require a short title for incidents' },
  'rate-limit': { value: 'N', help: "requests per minute; none uses the installation's default" },
  quota: {
    value: 'NAME=N',
    multiple: true,
    help: `how much it may have of ${Object.keys(QUOTAS).join(', ')}; none: unlimited, default: as for others; repeatable`,
  },
};

/** Only the settings that the call names; the others keep their values. */
function settings(values: FlagValues) {
  const read = {
    name: values.text('name'),
    isDemo: values.flag('demo'),
    historyDays: values.number('history-days'),
    reportingCurrency: values.text('reporting-currency'),
    shortTitleRequired: values.flag('short-title-required'),
    rateLimit: values.number('rate-limit'),
    quotas: quotas(values.texts('quota')),
  };
  return Object.fromEntries(Object.entries(read).filter(([, value]) => value !== undefined));
}

/** Parses `name=number`, `name=none` and `name=default`. */
function quotas(flags: readonly string[]): Record<string, number | null | 'default'> | undefined {
  const changes = flags.map((flag) => {
    const [, name = '', value = ''] = /^([a-z_]+)=(\d{1,10}|none|default)$/.exec(flag) ?? [];
    if (name === '') throw new UsageError(`--quota: ${flag} is not NAME=N, NAME=none or NAME=default`);
    return [name, value === 'none' ? null : value === 'default' ? value : Number(value)] as const;
  });
  const repeated = changes.find(([name], index) => changes.findIndex(([other]) => other === name) < index);
  if (repeated !== undefined) throw new UsageError(`--quota: ${repeated[0]} is given twice`);
  return changes.length === 0 ? undefined : Object.fromEntries(changes);
}

export const workspaceCommands: readonly Command[] = [
  {
    name: 'workspace list',
    summary: 'List all workspaces',
    flags: {},
    table: {
      rows: 'workspaces',
      columns: ['id', 'slug', 'name', ['demo', (row) => row['is_demo']], 'created_at'],
    },
    run: async (_, { gateway }) => ({ workspaces: (await gateway.listWorkspaces()).map(workspaceView) }),
  },
  {
    name: 'workspace show',
    summary: 'Show all settings of a workspace',
    flags: { slug },
    run: async (values, { gateway }) => ({
      workspace: workspaceView(await gateway.getWorkspace(values.required('slug'))),
    }),
  },
  {
    name: 'workspace create',
    summary: 'Create a workspace',
    flags: { slug, name: { value: 'NAME', help: 'the display name', required: true }, ...settingFlags },
    run: async (values, { gateway }) => ({
      workspace: workspaceView(
        await gateway.createWorkspace({
          ...settings(values),
          slug: values.required('slug'),
          name: values.required('name'),
        }),
      ),
    }),
  },
  {
    name: 'workspace set',
    summary: "Change a workspace's settings",
    flags: { slug, name: { value: 'NAME', help: 'the display name' }, ...settingFlags },
    run: async (values, { gateway }) => {
      const changes = settings(values);
      if (Object.keys(changes).length === 0) throw new UsageError('workspace set: there is nothing to set');
      return { workspace: workspaceView(await gateway.setWorkspace({ ...changes, slug: values.required('slug') })) };
    },
  },
  {
    name: 'workspace configure',
    summary: 'Replace statuses, severities, tiers, exchange rates or timeline groups',
    flags: {
      slug,
      file: { value: 'FILE', help: 'a JSON file with the new lists', required: true, isFile: true },
    },
    run: configureWorkspace,
  },
];
