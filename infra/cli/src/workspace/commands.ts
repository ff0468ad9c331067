import { randomUUID } from 'node:crypto';
import { readdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { Tocsin } from '@tocsin/sdk';
import { parseJson, UsageError } from '../operation-parameters.ts';
import { readInput } from '../read-input.ts';
import { type Call, Exit } from '../session.ts';
import { visible } from '../visible.ts';
import { applySteps, type Run } from './apply.ts';
import { checkSteps } from './check.ts';
import { compare, isOwn, type Limits, PRUNABLE, type Prunable } from './compare.ts';
import { type Desired, leaveOutUnknownTeams, mergeDocuments } from './desired.ts';
import type { ListName, LoadedDocument } from './document.ts';
import { writeWorkspace } from './export.ts';
import { KINDS, keyOf, pick } from './kinds.ts';
import { type Present, readPresent, secretIn, type Wanted } from './present.ts';
import { Mistakes, parseWorkspace } from './read-file.ts';
import { openSecrets } from './secrets.ts';
import { readCatalog, type CatalogName } from './catalogs/read-catalog.ts';
import { inPrint, lineOf, nameOfStep, type Plan, type Step, storedPlan, verbOf } from './steps.ts';

export interface PlanFlags {
  out?: string;
  prune?: string;
  onlyTag?: string;
  onlyExternalId?: string;
  secretsTo?: string;
  yes?: boolean;
  from?: CatalogName;
}

export interface ExportFlags extends Pick<PlanFlags, 'onlyTag' | 'onlyExternalId'> {
  kinds?: string;
}

const MAX_FILES = 1_000;
/** The reports of steps. */
const DONE: Readonly<Record<string, string>> = {
  ...{ create: 'created', change: 'changed', restore: 'restored', archive: 'archived', revoke: 'revoked' },
  ...{ add: 'added', remove: 'removed', rotate: 'replaced the secret of' },
};

/** Says what the files would change. Ends with 2 if that is something, and with 1 if it would be refused. */
export async function plan(call: Call, files: readonly string[], flags: PlanFlags): Promise<void> {
  const isDone = await refusing(call, async () => {
    const documents = await readDocuments(call, files, flags);
    const prepared = await makePlan(call, await call.connect(), documents, { ...flags, mayLack: true });
    print(call, prepared);
    if (flags.out !== undefined) writeText(flags.out, `${JSON.stringify(prepared.plan, undefined, 2)}\n`);
    return prepared.plan.steps.length === 0 && prepared.present.unread.size === 0;
  });
  if (!isDone) throw new Exit(2);
}

/** Carries out a stored plan, or what the files change. */
export async function apply(call: Call, files: readonly string[], flags: PlanFlags): Promise<void> {
  await refusing(call, async () => {
    const [file = ''] = files;
    const tocsin = await call.connect();
    const { signal } = call.session;
    const isPlan = files.length === 1 && file.endsWith('.json') && flags.from === undefined;
    const stored = isPlan ? await readPlan(call, file) : undefined;
    if (stored !== undefined) {
      if (flags.prune ?? flags.onlyTag ?? flags.onlyExternalId)
        throw new UsageError('a stored plan has its --prune and its limits already');
      const present = await readPresent(tocsin, wantedBy(stored), call.session);
      const [planned, here] = [placeOf(stored), placeOf(present)];
      if (planned !== here) throw new Error(`the plan is for the workspace ${planned}, and this is ${here}`);
      return run(call, { tocsin, plan: stored, present, secrets: secretsOf(flags, present), signal });
    }
    const prepared = await makePlan(call, tocsin, await readDocuments(call, files, flags), flags);
    print(call, prepared);
    if (prepared.plan.steps.length === 0) return;
    if (flags.yes !== true) {
      await confirm(call);
      // Time has passed.
      prepared.present = await readPresent(tocsin, wantedBy(prepared.plan), call.session);
    }
    await run(call, prepared);
  });
}

/** Writes the workspace as YAML, into a file or to stdout. */
export async function exportWorkspace(call: Call, file: string | undefined, flags: ExportFlags): Promise<void> {
  const all = ['configuration', ...(Object.keys(KINDS) as ListName[])] as const;
  const limits: Limits = { ...flags, prune: new Set(), lostSecrets: new Set() };
  const isLimited = flags.onlyTag !== undefined || flags.onlyExternalId !== undefined;
  const chosen = flags.kinds === undefined ? all : wordsOf('--kinds', flags.kinds, all);
  const lists = new Set(
    isLimited ? chosen.filter((list) => list !== 'configuration' && isOwn(list, {}, limits) !== undefined) : chosen,
  );
  const wanted: Wanted = {
    configuration: lists.has('configuration'),
    lists: new Set([...lists].filter((list) => list !== 'configuration')),
    members: lists.has('teams') ? 'all' : new Set(),
  };
  const present = await readPresent(await call.connect(), wanted, call.session);
  await refusing(call, async () => {
    const before = file === undefined ? undefined : readText(file);
    const { note } = call.output;
    const text = writeWorkspace(present, lists, {
      ...{ limits, file: file ?? '', text: before },
      note: (what) => note(visible(what)),
    });
    if (file === undefined) call.session.stdout.write(text);
    else if (text !== before) writeText(file, text);
    for (const name of present.ambiguous) note(`left out: several webhooks have the name ${name}`);
  });
}

async function readDocuments(call: Call, paths: readonly string[], { from }: PlanFlags): Promise<LoadedDocument[]> {
  if (from !== undefined) return [await readCatalog(call, from, paths)];
  const files = paths.flatMap(filesIn);
  if (files.length > MAX_FILES) throw new UsageError(`there are more than ${MAX_FILES} files`);
  const documents: LoadedDocument[] = [];
  const mistakes: string[] = [];
  for (const file of files) {
    try {
      documents.push(...parseWorkspace(file, await readInput(call.session, file)));
    } catch (error) {
      if (!(error instanceof Mistakes)) throw error;
      mistakes.push(...error.list);
    }
  }
  if (mistakes.length > 0) throw new Mistakes(mistakes);
  return documents;
}

/** The files of a folder by name, those of hidden folders and of packages left out; another path as it is. */
function filesIn(file: string): string[] {
  if (statSync(file, { throwIfNoEntry: false })?.isDirectory() !== true) return [file];
  const names = readdirSync(file, { recursive: true, encoding: 'utf8' }).filter(
    (name) => /\.(?:ya?ml|json)$/i.test(name) && !/(?:^|[/\\])(?:\.|node_modules[/\\])/.test(name),
  );
  if (names.length === 0) throw new UsageError(`${file} has no YAML or JSON files`);
  return names.toSorted().map((name) => path.join(file, name));
}

/**
 * Compares documents with the workspace.
 * @param flags `mayLack`: a key that only reads will do
 * @throws Mistakes: all of the documents, or all refusals of the server
 */
export async function makePlan(
  call: Call,
  tocsin: Tocsin,
  documents: readonly LoadedDocument[],
  flags: PlanFlags & { mayLack?: boolean },
): Promise<Run> {
  const { signal } = call.session;
  const prune = new Set(flags.prune === undefined ? [] : wordsOf('--prune', flags.prune, PRUNABLE));
  const { onlyTag, onlyExternalId, mayLack = false } = flags;
  checkLimits({ prune, onlyTag, onlyExternalId });
  for (const list of prune)
    if (documents.some(({ incomplete }) => incomplete?.has(list)))
      throw new UsageError(
        `--prune ${list}: what is ignored or left out may have some of them, which would be removed`,
      );
  const mistakes: string[] = [];
  const desired = mergeDocuments(documents, mistakes);
  const present = await readPresent(tocsin, { ...wantedOf(desired, prune), mayLack }, call.session);
  for (const list of present.unread.keys()) {
    desired.entries[list].clear();
    prune.delete(list as Prunable);
  }
  // A catalog may name teams that are elsewhere.
  if (flags.from === 'backstage')
    for (const what of leaveOutUnknownTeams(desired, present)) call.output.note(visible(`left out: ${what}`));
  const secrets = secretsOf(flags, present);
  const lost = [...desired.entries.webhooks.keys()].filter((key) => secrets?.stateOf(key) === 'lost');
  const limits: Limits = { prune, onlyTag, onlyExternalId, lostSecrets: new Set(lost) };
  const drafts = compare(desired, present, limits, mistakes);
  if (secrets === undefined)
    for (const { place } of drafts.filter(needsSecret))
      mistakes.push(`${place ?? ''}: The secret of a new webhook is shown once: give --secrets-to FILE`);
  if (mistakes.length > 0) throw new Mistakes(mistakes);
  const { steps, refusals, lacking } = await checkSteps(tocsin, drafts, { present, mayLack, signal });
  const { revision } = desired.configuration;
  const change = steps.find(({ list }) => list === 'configuration');
  if (change !== undefined && revision !== undefined && revision !== change.revision)
    refusals.push(
      `${change.place ?? ''}.revision: Is ${JSON.stringify(revision)}, and the workspace has ${String(change.revision)}`,
    );
  if (refusals.length > 0) throw new Mistakes(refusals);
  for (const why of lacking) call.output.note(`not checked by the server: ${why}`);
  const { installation_id, workspace } = present;
  const newPlan: Plan = { format: 1, id: randomUUID(), installation_id, workspace, steps };
  return { tocsin, plan: newPlan, present, secrets, signal };
}

const needsSecret = ({ list, action }: Step) => list === 'webhooks' && action !== 'archive';

/** What a limit is not about would be removed from others. */
function checkLimits(limits: Pick<Limits, 'prune' | 'onlyTag' | 'onlyExternalId'>): void {
  if (limits.onlyTag === undefined && limits.onlyExternalId === undefined) return;
  for (const list of limits.prune)
    if (list !== 'members' && isOwn(list, {}, { ...limits, lostSecrets: new Set() }) === undefined)
      throw new UsageError(
        `--prune ${list}: the limit of the command is not about ${list}, so those of others would go`,
      );
}

function wantedOf({ configuration, entries }: Desired, prune: ReadonlySet<Prunable>): Wanted {
  const isConfigured = Object.keys(configuration).length > 0;
  const lists = (Object.keys(entries) as ListName[]).filter(
    (list) => entries[list].size > 0 || prune.has(list as Prunable),
  );
  const teams = [...entries.teams.values()].filter(({ hasMembers }) => hasMembers).map(({ key }) => key);
  return { configuration: isConfigured, lists: new Set(lists), members: new Set(teams) };
}

/** What the steps of a plan need. */
function wantedBy({ steps }: Plan): Wanted {
  const lists = new Set(steps.map(({ list }) => list));
  const configuration = lists.delete('configuration');
  lists.delete('members');
  const members = new Set(steps.flatMap(({ team }) => (team === undefined ? [] : keyOf('teams', team))));
  return { configuration, lists: lists as Set<ListName>, members };
}

/** Undefined if the file is one of the workspace. @throws UsageError */
async function readPlan(call: Call, file: string): Promise<Plan | undefined> {
  const value = parseJson(file, await readInput(call.session, file));
  if (typeof value === 'object' && value !== null && !Object.hasOwn(value, 'format')) return undefined;
  const { data, error } = storedPlan.safeParse(value);
  if (data === undefined) throw new UsageError(`${file} is no plan of this version: ${error.issues[0]?.message ?? ''}`);
  return data;
}

const placeOf = ({ workspace, installation_id: installation }: Pick<Plan, 'workspace' | 'installation_id'>) =>
  `${workspace.slug} (${workspace.id}) of the installation ${installation}`;

const secretsOf = ({ secretsTo }: PlanFlags, present: Present) =>
  secretsTo === undefined ? undefined : openSecrets(secretsTo, present);

function print({ output, options }: Call, { plan: printedPlan, present: { unread } }: Run): void {
  const { steps } = printedPlan;
  const say = options.json === true ? output.note : output.line;
  if (options.json === true) output.line(JSON.stringify(printedPlan, undefined, 2));
  else if (steps.length === 0) output.line(`no differences${unread.size === 0 ? '' : ' in what was compared'}`);
  else for (const step of inPrint(steps)) output.line(lineOf(step));
  for (const [list, why] of unread) say(`${list} are not compared: ${why}`);
}

/** Carries a plan out, and says after each step what was done; after a failure also what was not. */
async function run({ output, options }: Call, prepared: Run): Promise<void> {
  const { steps } = prepared.plan;
  if (prepared.secrets === undefined && steps.some(needsSecret))
    throw new UsageError('the secrets of webhooks would be lost: give --secrets-to FILE');
  for (const { properties } of steps.filter(({ list }) => list === 'destinations'))
    for (const variable of Object.values(pick(properties, Object.keys(KINDS.destinations.secrets))))
      if (secretIn(prepared.present.env, variable) === undefined)
        throw new UsageError(`there is no environment variable ${String(variable)}, which the plan needs`);
  const say = options.json === true ? output.note : output.line;
  let count = 0;
  try {
    await applySteps(prepared, (step, isWritten) => {
      count += 1;
      const name = nameOfStep(step);
      say(isWritten ? `${DONE[verbOf(step)] ?? ''} ${name}` : `${name} is as planned already`);
    });
  } catch (error) {
    for (const step of steps.slice(count)) output.note(`not done: ${lineOf(step)}`);
    throw error;
  }
}

/** @throws Error unless the answer is yes */
async function confirm({ session: { stdin, stderr } }: Call): Promise<void> {
  if (stdin.isTTY !== true) throw new UsageError('there is no terminal that could ask: --yes applies the plan');
  stderr.write('Apply it? [y/N] ');
  for await (const chunk of stdin) {
    if (/^y(?:es)?\s*$/i.test(String(chunk))) return;
    break;
  }
  throw new Error('nothing was changed');
}

/** Mistakes are listed, and the exit code of wrong usage, which is that of differences, becomes 1. */
async function refusing<Result>({ output }: Call, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof UsageError) throw new Error(error.message, { cause: error });
    if (!(error instanceof Mistakes)) throw error;
    for (const mistake of error.list) output.note(visible(mistake));
    throw new Error(`nothing was changed: ${error.list.length} mistakes or refusals`, { cause: error });
  }
}

function wordsOf<Word extends string>(flag: string, text: string, allowed: readonly Word[]): Word[] {
  const words = text.split(',').map((word) => word.trim());
  for (const word of words)
    if (!allowed.includes(word as Word)) throw new UsageError(`${flag}: ${word} is none of ${allowed.join(', ')}`);
  return words as Word[];
}

/** Undefined if there is no such file. */
function readText(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

/** Replaces a file as a whole. */
function writeText(file: string, text: string): void {
  const temporary = `${file}.${process.pid}`;
  writeFileSync(temporary, text);
  renameSync(temporary, file);
}
