import type { Command, Flag, FlagValues } from './command.ts';
import { configureWorkspace } from './configure-workspace.ts';
import type { Row } from './table.ts';
import { UsageError } from './target.ts';
import { workspaceView } from './views.ts';

const slug: Flag = { type: 'string', value: 'SLUG', help: 'the first label of its host name', required: true };

const settingFlags: Record<string, Flag> = {
  demo: { type: 'boolean', negatable: true, help: 'make it a demo workspace, which sends no webhooks' },
  'history-days': {
    type: 'string',
    value: 'N',
    help: 'hide incidents older than N days from lists; none shows all incidents',
  },
  'reporting-currency': {
    type: 'string',
    value: 'CODE',
    help: 'the currency that amounts are summed in; USD by default',
  },
  'short-title-required': {
    type: 'boolean',
    negatable: true,
    help: 'require a short title for incidents',
  },
  'rate-limit': { type: 'string', value: 'N', help: "requests per minute; none uses the installation's default" },
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
  };
  return Object.fromEntries(Object.entries(read).filter(([, value]) => value !== undefined));
}

export const workspaceCommands: readonly Command[] = [
  {
    name: 'workspace list',
    summary: 'List all workspaces',
    flags: {},
    table: {
      rows: ({ workspaces }) => workspaces as Row[],
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
    flags: { slug, name: { type: 'string', value: 'NAME', help: 'the display name', required: true }, ...settingFlags },
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
    flags: { slug, name: { type: 'string', value: 'NAME', help: 'the display name' }, ...settingFlags },
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
      file: { type: 'string', value: 'FILE', help: 'a JSON file with the new lists', required: true, isFile: true },
    },
    run: configureWorkspace,
  },
];
