import { createHmac } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import type { Envelope } from '@tocsin/schemas';
import type { ReceivedRequest } from '@tocsin/testing';
import { type Change, type Facts, factsOf } from './facts.ts';
import type { Entry, FinalState } from './final-state.ts';
import type { History, Violation } from './history.ts';
import { isUpload, uploadedBy } from './pictures.ts';
import { type Json, type Kind, kindNamed, nameOf, valueOf } from './resources.ts';
import { BULK } from './workload.ts';
import { isUnfinished } from './workload-client.ts';

/** What a run has left behind, when everything works again and nothing happens any more. */
export interface Evidence extends Pick<History, 'operations' | 'lists' | 'seen'> {
  slug: string;
  polled: readonly Envelope[];
  streamed: readonly Envelope[];
  final: FinalState;
  /** A subscription to `incident.created`, from before the run. */
  webhook?: { secret: string; requests: readonly Received[] };
  /** A destination of the kind `http` with events of these types, from before the run. */
  destination?: { secret: string; types: readonly string[]; requests: readonly Received[] };
}

type Received = Pick<ReceivedRequest, 'headers' | 'body'>;

type Report = (what: string, operations: Violation['operations'], more?: unknown) => void;
type Check = (evidence: Evidence, facts: Facts, report: Report) => void;

/** Compares the history of one workspace with its event feed, which has every revision of every resource. */
export function check(evidence: Evidence): Violation[] {
  const violations: Violation[] = [];
  const operations = evidence.operations.filter(({ workspace }) => workspace === evidence.slug);
  const lists = evidence.lists.filter(({ operations: [first] }) => first?.workspace === evidence.slug);
  const facts = factsOf(evidence, evidence.polled);
  for (const each of CHECKS) {
    each({ ...evidence, operations, lists }, facts, (what, operations, more) =>
      violations.push({ what, operations, more }),
    );
  }
  return violations;
}

/** The feed has each event once, in the order of the revisions, for all readers, and only events of own requests. */
const checkFeed: Check = ({ slug, polled, streamed }, facts, report) => {
  const ids = polled.map(({ id }) => id);
  if (new Set(ids).size < ids.length)
    report(
      'an event twice',
      [],
      ids.filter((id, index) => ids.indexOf(id) < index),
    );
  const firstDifference = ids.findIndex((id, index) => streamed[index]?.id !== id);
  if (firstDifference !== -1 || streamed.length !== ids.length) {
    report('readers that saw different feeds', [], [firstDifference, ids.length, streamed.length]);
  }
  for (const name of facts.names()) {
    const changes = facts.of(name);
    let last = 0;
    changes.forEach(({ revision, isDeletion, by, event }, index) => {
      if (!isDeletion) last += 1;
      const wasDeleted = changes[index - 1]?.isDeletion === true;
      if (revision !== last || wasDeleted !== (event.type === 'timeline_event.restored'))
        report('revisions with a gap or in another order', [by], [name, ...changes.map((each) => each.revision)]);
    });
  }
  for (const { by, event, name, incident } of facts.changes) {
    if (by === undefined) report('an event that no request caused', [], event);
    else if (by.workspace !== slug || event.workspace.slug !== slug)
      report('an event of another workspace', [by], event);
    else if (by.outcome === 'refused' || by.method === 'GET') report('a change by a refused request', [by], event);
    if (incident === undefined) continue;
    const whole = facts.at(nameOf(slug, 'incident', incident.id), incident.revision);
    if (whole?.by !== by) report('a timeline event whose incident did not change', [by, whole?.by], name);
  }
};

/** What responses showed is what the feed says of that revision, and neither older nor newer than it could be. */
const checkVersions: Check = ({ slug, operations, seen }, facts, report) => {
  for (const [name, versions] of seen) {
    if (!name.startsWith(`${slug} `)) continue;
    for (const [revision, { text, by }] of versions) {
      const change = facts.at(name, revision);
      if (change === undefined) report('a revision without an event', [by], [name, revision, text]);
      else if (change.text !== text)
        report('an event with another content', [by, change.by], [name, text, change.text]);
    }
  }
  for (const operation of operations) {
    if (operation.isReplay) continue;
    for (const { name, revision } of operation.versions) {
      const { least, most } = facts.bounds(name, operation);
      if (revision < least) report('a read of an old revision', [operation, facts.at(name, least)?.by], name);
      if (revision > most && facts.at(name, revision) !== undefined)
        report('a revision before its request', [operation, facts.at(name, revision)?.by], name);
    }
  }
};

/** What a lifecycle operation leaves behind. */
const EFFECTS: Readonly<Record<string, (value: (property: string) => unknown) => boolean>> = {
  resolve: (value) => value('status') === 'resolved',
  close: (value) => value('status') === 'closed',
  reopen: (value) => value('status') === 'active',
  archive: (value) => value('archived_at') !== null,
  restore: (value) => (value('archived_at') ?? null) === null,
};

/** A write that succeeded has its content and its event. Of those with one expected revision or one key, one has. */
const checkWrites: Check = ({ slug, operations, seen }, facts, report) => {
  const keyed = Map.groupBy(
    operations.filter(({ key }) => key !== undefined),
    ({ path, key }) => `${path} ${key}`,
  );
  for (const attempts of keyed.values()) {
    if (attempts[0]?.path === BULK) {
      checkBulk(attempts, { slug, facts, report });
      continue;
    }
    const done = attempts.filter(({ outcome }) => outcome === 'done');
    const [first] = done;
    const effective = attempts.filter((operation) => facts.by(operation).length > 0);
    if (effective.length > 1) report('two creates with one key', effective);
    if (first !== undefined && effective.length === 0 && !isUpload(first)) report('a create without an event', [first]);
    for (const other of done) {
      if (!isDeepStrictEqual([other.text, other.body], [first?.text, first?.body]))
        report('two responses to one key', [first, other]);
    }
  }
  const configured = operations.filter(({ method, outcome }) => method === 'PUT' && outcome === 'done');
  for (const [expected, writes] of Map.groupBy(configured, (operation) => operation.expected)) {
    if (writes.length > 1) report('a lost update', writes, expected);
  }
  for (const operation of operations) {
    const { method, path, outcome, versions, body = {}, expected, key } = operation;
    const changes = facts.by(operation);
    const target = targetOf(slug, path);
    for (const change of changes) {
      if (expected !== undefined && change.name === target?.name && change.revision !== expected + 1)
        report('a lost update', [operation], [change.name, change.revision]);
    }
    if (outcome !== 'done' || method === 'GET' || method === 'PUT') continue;
    // Both cannot be repetitions of what was there before.
    const mustChange =
      method === 'PATCH' || (method === 'DELETE' && ['timeline_event', 'follow_up'].includes(target?.kind ?? ''));
    if (mustChange && key === undefined && changes.length === 0) report('a change without an event', [operation]);
    const [shown] = versions;
    if (shown === undefined) continue;
    const kind = shown.name.split(' ')[1] as Kind;
    const text = seen.get(shown.name)?.get(shown.revision)?.text ?? '[]';
    const value = (property: string) => valueOf(kind, { text }, property);
    const verb = path.split('/').at(-1) ?? '';
    if (EFFECTS[verb]?.(value) === false) report('a success without its effect', [operation], text);
    for (const [property, wanted] of Object.entries(body)) {
      const actual = value(property);
      if (actual !== undefined && !isDeepStrictEqual(actual, wanted))
        report('a success with another content', [operation], [property, actual]);
    }
  }
};

/** However often a bulk is sent, each of its items has one effect at most, and results that are whole are the same. */
function checkBulk(
  attempts: Evidence['operations'],
  { slug, facts, report }: { slug: string; facts: Facts; report: Report },
): void {
  const items = (attempts[0]?.body?.['items'] ?? []) as { id: number; revision?: number }[];
  for (const { id, revision } of items) {
    const name = nameOf(slug, 'incident', id);
    const changes = attempts.flatMap((attempt) => facts.by(attempt).filter((change) => change.name === name));
    if (changes.length > 1) report('two effects of one item', attempts, name);
    if (revision !== undefined && changes.some((change) => change.revision !== revision + 1))
      report('a lost update', attempts, name);
  }
  const whole = attempts
    .filter(({ outcome, text }) => outcome === 'done' && !isUnfinished(JSON.parse(text) as Json))
    .map(({ text }) => text.replaceAll(/"request_id":"[^"]*"/g, ''));
  if (new Set(whole).size > 1) report('two responses to one key', attempts);
}

/** A refusal has a reason. */
const checkRefusals: Check = ({ slug, operations }, facts, report) => {
  for (const operation of operations) {
    const { outcome, code = '', status, text, path, body, expected } = operation;
    if (outcome !== 'refused') continue;
    // Another client may have closed the circle before, or deleted the relation.
    if (path.includes('/relations') && ['invalid_request', 'not_found'].includes(code)) continue;
    const target = targetOf(slug, path);
    const { least, most } = target === undefined ? { least: 0, most: 0 } : facts.bounds(target.name, operation);
    if (code === 'precondition_failed') {
      const current = (JSON.parse(text) as { details: { current_revision: number } }).details.current_revision;
      const isTrue = target === undefined || (current >= least && current <= most);
      if (!isTrue || current === (expected ?? body?.['expected_revision']))
        report('a false 412', [operation], [least, most]);
    } else if (code === 'not_found') {
      const isDeleted = facts
        .of(target?.name ?? '')
        .some(({ isDeletion, by }) => isDeletion && (by?.start ?? 0) < operation.end);
      if (least > 0 && !isDeleted) report('a false 404', [operation]);
    } else if (!REASONS.has(code) && !(code === 'invalid_request' && body?.['status'] === 'escalated')) {
      report('an unexpected refusal', [operation], [status, code]);
    }
  }
};

const REASONS: ReadonlySet<string> = new Set([
  'invalid_resource_state',
  'idempotency_key_reused',
  'idempotency_in_progress',
  'service_unavailable',
  // While the database hangs, requests of a workspace use up its connections.
  'rate_limited',
]);

/** A list has each incident once that matched it all the time, and none that never did. */
const checkLists: Check = ({ slug, lists }, facts, report) => {
  const incidents = [...facts.names()].filter((name) => name.startsWith(`${slug} incident `));
  const batches = Map.groupBy(incidents, (name) => valueOf('incident', facts.of(name)[0] as Change, 'service'));
  for (const { operations, filter, ids } of lists) {
    if (new Set(ids).size < ids.length) report('a row twice in a list', operations, ids);
    const whole = { start: operations[0]?.start ?? 0, end: operations.at(-1)?.end ?? 0 };
    const listed = new Set(ids);
    const names = batches.get(filter.batch) ?? [];
    for (const name of names) {
      const { least, most } = facts.bounds(name, whole);
      const states = facts.of(name).filter(({ revision }) => revision >= least && revision <= most);
      const matches = states.map(
        (state) =>
          (valueOf('incident', state, 'archived_at') !== null) === filter.isArchived &&
          (filter.status === undefined || valueOf('incident', state, 'status') === filter.status),
      );
      const isListed = listed.delete(Number(name.split(' ').at(-1)));
      if (!isListed && least > 0 && matches.every(Boolean))
        report('a row that a list lacks', operations, [name, filter]);
      if (isListed && !matches.some(Boolean)) report('a row that does not match', operations, [name, filter]);
    }
    if (listed.size > 0) report('a row of another list', operations, [...listed]);
  }
};

/** What the changelog calls a part of an incident. */
const PART = /^(?:timeline_events|follow_ups)\.\d+/;

/** The parts that changed, each with the revision of the incident; a follow-up leaves that as it is. */
const changedParts = (entries: readonly Entry[]) =>
  entries.flatMap(([revision, changes]) => {
    const parts = new Set(changes.flatMap(({ field }) => PART.exec(field)?.[0] ?? []));
    return [...parts].map((part) => (part.startsWith('t') ? `${part} ${revision}` : part));
  });

/** The API shows what the feed says, and so do changelogs and counts. */
const checkFinalState: Check = ({ final }, facts, report) => {
  const partsOf = Map.groupBy(
    facts.changes.filter(({ kind }) => kind === 'timeline_event' || kind === 'follow_up'),
    ({ event }) => (event.data as { incident: { id: number } }).incident.id,
  );
  const left = new Map(final.versions);
  for (const name of facts.names()) {
    const last = facts.of(name).at(-1) as Change;
    const shown = left.get(name);
    left.delete(name);
    if (last.isDeletion ? shown !== undefined : shown?.text !== last.text)
      report('a state that the feed does not say', [last.by], [name, shown?.text, last.text]);
    if (last.kind !== 'incident') continue;
    const expected = facts
      .of(name)
      .map(({ revision, event }) => [revision, (event.data as { changes?: unknown[] }).changes ?? []] as const)
      .filter(([, changes]) => changes.length > 0);
    const all = final.changelogs.get(name) ?? [];
    const entries = all.filter(([, changes]) => !changes.some(({ field }) => PART.test(field)));
    if (!isDeepStrictEqual(entries, expected))
      report('a changelog that differs from the events', [last.by], [name, entries, expected]);
    const parts = (partsOf.get(Number(name.split(' ').at(-1))) ?? []).map(({ kind, name: part, incident }) => {
      const id = part.split(' ').at(-1);
      return kind === 'follow_up' ? `follow_ups.${id}` : `timeline_events.${id} ${incident?.revision}`;
    });
    const recorded = changedParts(all).toSorted();
    if (!isDeepStrictEqual(recorded, parts.toSorted()))
      report('a changelog without a change of a part', [last.by], [name, recorded, parts]);
  }
  for (const [name, version] of left) report('a resource that the feed lacks', [], [name, version]);
  for (const { path, counted, rows } of final.counts)
    if (counted !== rows) report('a wrong count', [], [path, counted, rows]);
};

/** Each upload that succeeded is a picture of its own, which is there while its event is. */
const checkPictures: Check = ({ operations, final }, facts, report) => {
  const deleted = new Set(
    operations
      .filter(({ versions }) => versions.some(({ name }) => facts.of(name).at(-1)?.isDeletion === true))
      .flatMap(({ body }) => (body?.['attachments'] ?? []) as number[]),
  );
  const done = operations.filter((each) => isUpload(each) && each.outcome === 'done');
  const ids = new Set<number>();
  for (const upload of new Map(done.map((each) => [each.key, each])).values()) {
    const { id, width, height, filename } = uploadedBy(upload);
    if (!isDeepStrictEqual({ width, height, filename }, upload.body))
      report('a success with another content', [upload], upload.text);
    if (ids.has(id)) report('one picture of two uploads', [upload], id);
    ids.add(id);
    const shown = final.pictures.get(id);
    if (deleted.has(id)) {
      if (shown !== undefined) report('a picture of a deleted event', [upload], id);
    } else if (shown === undefined) report('a lost picture', [upload], id);
    else if (!isDeepStrictEqual(shown, { width, height })) report('a picture with another content', [upload], shown);
  }
};

/** Each new incident was delivered, signed, with the event ID that the feed has. */
const checkDeliveries: Check = ({ polled, webhook }, facts, report) => {
  if (webhook === undefined) return;
  const created = new Map(
    facts.changes.filter(({ event }) => event.type === 'incident.created').map((each) => [each.event.id, each]),
  );
  const bodies = new Map<string, string>();
  for (const { headers, body } of webhook.requests) {
    const id = String(headers['webhook-id']);
    if (!isSigned({ headers, body }, webhook.secret)) report('a wrong signature', [], headers);
    const { resource } = JSON.parse(body) as { resource: Json };
    const change = created.get(id);
    if (change === undefined || nameOf(change.event.workspace.slug, 'incident', resource['id']) !== change.name)
      report('a delivery of no event', [change?.by], body);
    if ((bodies.get(id) ?? body) !== body) report('two contents of one delivery', [change?.by], body);
    bodies.set(id, body);
  }
  for (const [id, { by }] of created)
    if (!bodies.has(id))
      report(
        'an event that was not delivered',
        [by],
        polled.find((event) => event.id === id),
      );
};

/** A destination has each event of its types, as the feed has it and in its order; any of them may come again. */
const checkDestination: Check = ({ polled, destination }, _facts, report) => {
  if (destination === undefined) return;
  const { secret, types, requests } = destination;
  const expected = polled.filter(({ type }) => types.includes(type));
  const byId = new Map(expected.map((event) => [event.id, event]));
  for (const { headers, body } of requests) {
    if (!isSigned({ headers, body }, secret)) report('a wrong signature', [], headers);
    if (!isDeepStrictEqual(JSON.parse(body), byId.get(String(headers['webhook-id']))))
      report('a message that is not its event', [], body);
  }
  const ids = [...new Set(requests.map(({ headers }) => String(headers['webhook-id'])))];
  const place = expected.findIndex(({ id }, index) => id !== ids[index]);
  if (place === -1) return;
  const isSent = ids.includes(expected[place]?.id ?? '');
  report(
    isSent ? 'messages in another order' : 'an event that a destination lacks',
    [],
    [expected[place], ids.slice(Math.max(0, place - 1), place + 2), expected.length, ids.length],
  );
};

const CHECKS: readonly Check[] = [
  checkFeed,
  checkVersions,
  checkWrites,
  checkRefusals,
  checkLists,
  checkFinalState,
  checkPictures,
  checkDeliveries,
  checkDestination,
];

/** Whether a request is signed as webhooks are. */
function isSigned({ headers, body }: Received, secret: string): boolean {
  const [id, time, signature] = ['id', 'timestamp', 'signature'].map((name) => String(headers[`webhook-${name}`]));
  return signature === `v1,${createHmac('sha256', secret).update(`${id}.${time}.${body}`).digest('base64')}`;
}

/** The resource that a path names. */
function targetOf(slug: string, path: string): { name: string; kind: Kind } | undefined {
  const [, collection = '', id] = /^\/api\/v1\/([a-z-]+)\/(\d+)/.exec(path) ?? [];
  const kind = kindNamed(collection);
  return kind === undefined ? undefined : { name: nameOf(slug, kind, id), kind };
}
