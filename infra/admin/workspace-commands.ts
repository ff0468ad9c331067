import type { Command, Flag, Given } from './command.ts';
import { configureWorkspace } from './configure-workspace.ts';
import { UsageError } from './usage-error.ts';
import { workspaceView } from './views.ts';

const slug: Flag = { type: 'string', value: 'SLUG', help: 'the first label of its host name', required: true };

const settingFlags: Record<string, Flag> = {
  demo: { type: 'boolean', help: 'a demo workspace sends no webhooks; --no-demo makes it a real one' },
  'history-days': { type: 'string', value: 'N', help: 'hide incidents older than N days from lists; none shows all' },
  'reporting-currency': { type: 'string', value: 'CODE', help: 'that amounts are summed in; USD unless set' },
  'short-title-required': {
    type: 'boolean',
    help: 'incidents need a short title; --no-short-title-required undoes it',
  },
  'rate-limit': { type: 'string', value: 'N', help: "requests a minute; none is the installation's default" },
};

/** Only what was given: the rest keeps its value. */
function settings(given: Given) {
  const read = {
    name: given.text('name'),
    isDemo: given.flag('demo'),
    historyDays: given.number('history-days'),
    reportingCurrency: given.text('reporting-currency'),
    shortTitleRequired: given.flag('short-title-required'),
    rateLimit: given.number('rate-limit'),
  };
  return Object.fromEntries(Object.entries(read).filter(([, value]) => value !== undefined));
}

export const workspaceCommands: readonly Command[] = [
  {
    name: 'workspace create',
    summary: 'Make a workspace',
    flags: { slug, name: { type: 'string', value: 'NAME', help: 'for people', required: true }, ...settingFlags },
    run: async (given, { gateway }) => ({
      workspace: workspaceView(
        await gateway.createWorkspace({
          ...settings(given),
          slug: given.required('slug'),
          name: given.required('name'),
        }),
      ),
    }),
  },
  {
    name: 'workspace set',
    summary: "Change a workspace's settings",
    flags: { slug, name: { type: 'string', value: 'NAME', help: 'for people' }, ...settingFlags },
    run: async (given, { gateway }) => {
      const changes = settings(given);
      if (Object.keys(changes).length === 0) throw new UsageError('workspace set: there is nothing to set');
      return { workspace: workspaceView(await gateway.setWorkspace({ ...changes, slug: given.required('slug') })) };
    },
  },
  {
    name: 'workspace configure',
    summary: 'Replace statuses, severities, tiers, exchange rates or timeline groups',
    flags: { slug, file: { type: 'string', value: 'FILE', help: 'a JSON file with the new lists', required: true } },
    run: configureWorkspace,
  },
];
