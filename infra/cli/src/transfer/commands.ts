import type { Command } from 'commander';
import type { Call } from '../session.ts';
import type { Source } from './source.ts';
import type { FetchFlags, MappingFlags } from './steps.ts';

const SOURCES: Readonly<Record<string, { title: string; load: () => Promise<Source> }>> = {
  dispatch: {
    title: 'Netflix Dispatch',
    load: async () => (await import('./sources/dispatch.ts')).dispatch,
  },
  opsgenie: {
    title: 'Opsgenie',
    load: async () => (await import('./sources/opsgenie.ts')).opsgenie,
  },
  pagerduty: {
    title: 'PagerDuty',
    load: async () => (await import('./sources/pagerduty.ts')).pagerduty,
  },
};

/** Adds `import` with a command for each source, and its four steps. Each is loaded when it runs. */
export function addTransfer(program: Command, begin: (command: Command) => Call): void {
  const parent = program
    .command('import')
    .description('move the incidents of another system into the workspace')
    .addHelpText('after', '\nExample:\n  tocsin import pagerduty plan ./pagerduty');
  for (const [name, { title, load }] of Object.entries(SOURCES)) {
    const source = parent
      .command(name)
      .description(`move incidents from ${title}: fetch, plan, apply, reconcile`)
      .addHelpText('after', `\nExample:\n  tocsin import ${name} fetch ./${name}`);
    const step = (verb: string, description: string) =>
      source
        .command(verb)
        .description(description)
        .argument('<folder>', 'with the answers of the source')
        .addHelpText('after', `\nExample:\n  tocsin import ${name} ${verb} ./${name}`);
    const run = async () => import('./steps.ts');
    step('fetch', 'read the source into a folder; once more goes on, and changes nothing of the source')
      .option('--url <url>', 'address of the source, if it is not the public one')
      .option('--organization <slug>', 'of Dispatch; default: default')
      .option('--since <date>', 'the first day; default: 2009-01-01, and that of the first fetch for a rerun')
      .action(async (folder: string, flags: FetchFlags, command: Command) =>
        (await run()).fetchSource(begin(command), await load(), folder, flags),
      );
    step('plan', 'say what an apply would do and what would be lost; exit code 2 if something would be')
      .option('--mapping <file>', 'what becomes of the names of the source; - for stdin')
      .option('--propose <file>', 'write a mapping that leaves out what is open, to be changed by you')
      .action(async (folder: string, flags: MappingFlags & { propose?: string }, command: Command) =>
        (await run()).plan(begin(command), await load(), folder, flags),
      );
    step('apply', 'write them into the workspace; once more changes nothing')
      .option('--mapping <file>', 'what becomes of the names of the source; - for stdin')
      .action(async (folder: string, flags: MappingFlags, command: Command) =>
        (await run()).apply(begin(command), await load(), folder, flags),
      );
    step('reconcile', 'compare the folder with what the workspace has')
      .option('--mapping <file>', 'what becomes of the names of the source; - for stdin')
      .option('--sample <n>', 'incidents that are compared in full', '100')
      .action(async (folder: string, flags: MappingFlags & { sample: string }, command: Command) =>
        (await run()).reconcile(begin(command), await load(), folder, flags),
      );
  }
}
