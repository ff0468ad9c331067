import { describe, expect, test } from '@jest/globals';
import { DEFAULT_CONFIGURATION } from '../src/configuration/domain/configuration.ts';
import type { Incident } from '../src/incidents/domain/incident.ts';
import {
  archive,
  checkWritable,
  close,
  reopen,
  resolve,
  restore,
  statusChange,
  type Transition,
} from '../src/incidents/domain/lifecycle.ts';
import { anIncident } from './incident.ts';

const now = '2026-11-20T12:00:00.000Z';
const earlier = '2026-11-20T10:00:00.000Z';
const moment = { statuses: DEFAULT_CONFIGURATION.statuses, now };
const refusal = expect.objectContaining({ code: 'invalid_resource_state' });

const after = (transition: Transition, before: Partial<Incident>) => {
  const incident = anIncident(before);
  const { status, issueType, statusChangedAt, endedAt } = { ...incident, ...transition(incident, moment) };
  return { status, issueType, statusChangedAt, endedAt };
};

describe('operations on the status', () => {
  const done = { statusChangedAt: earlier, endedAt: earlier };
  test.each([
    ['resolve', resolve, { status: 'open' }, ['resolved', 'postmortem', now, now]],
    ['resolve', resolve, { status: 'monitoring', issueType: 'ticket' }, ['resolved', 'postmortem', now, now]],
    ['resolve', resolve, { status: 'closed', ...done }, ['resolved', 'postmortem', now, now]],
    ['resolve', resolve, { status: 'resolved', ...done }, ['resolved', 'postmortem', earlier, earlier]],
    ['close', close, { status: 'open' }, ['closed', 'incident', now, now]],
    ['close', close, { status: 'resolved', issueType: 'postmortem', ...done }, ['closed', 'postmortem', now, now]],
    ['close', close, { status: 'closed', ...done }, ['closed', 'incident', earlier, earlier]],
    ['reopen', reopen, { status: 'resolved', issueType: 'postmortem', ...done }, ['active', 'incident', now, null]],
    ['reopen', reopen, { status: 'closed', issueType: 'postmortem', ...done }, ['active', 'postmortem', now, null]],
    ['reopen', reopen, { status: 'closed', issueType: 'ticket', ...done }, ['active', 'ticket', now, null]],
  ] as const)('%s: %#', (_name, transition, before, [status, issueType, statusChangedAt, endedAt]) => {
    expect(after(transition, before)).toEqual({ status, issueType, statusChangedAt, endedAt });
  });

  test.each(['open', 'active', 'on-hold', 'monitoring'])('reopen fails from %s', (status) => {
    expect(() => reopen(anIncident({ status }), moment)).toThrow(refusal);
  });

  test('a status that the workspace does not have is rejected', () => {
    expect(() => statusChange(anIncident(), 'triage', moment)).toThrow(
      expect.objectContaining({ code: 'invalid_request', field: 'status' }),
    );
  });
});

describe('archiving and restoring', () => {
  const archived = { archivedAt: earlier, archivedBy: 7 };
  test('archive an active incident and restore an archived one', () => {
    expect(archive(anIncident(), 42, now)).toEqual({ archivedAt: now, archivedBy: 42 });
    expect(restore(anIncident(archived))).toEqual({ archivedAt: null, archivedBy: null });
  });
  test('fail if nothing would change', () => {
    expect(() => archive(anIncident(archived), 42, now)).toThrow(refusal);
    expect(() => restore(anIncident())).toThrow(refusal);
  });
  test('make an archived incident read-only', () => {
    expect(() => checkWritable(anIncident(archived))).toThrow(refusal);
    expect(() => checkWritable(anIncident())).not.toThrow();
  });
});
