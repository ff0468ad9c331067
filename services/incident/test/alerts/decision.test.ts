import { expect, test } from '@jest/globals';
import fc from '@tocsin/testing/fuzz';
import { type Alert, type AlertOptions, digestOf, heardGroup } from '../../src/alerts/domain/alert.ts';
import { type Decision, decide } from '../../src/alerts/domain/decision.ts';
import { comparison } from '../../src/alerts/domain/firings.ts';
import {
  isOpen,
  type Known,
  type KnownGroup,
  type KnownIncident,
  type Member,
  memberKey,
} from '../../src/alerts/domain/known.ts';
import { DEFAULT_CONFIGURATION } from '../../src/configuration/domain/configuration.ts';

/**
 * The law of alerts (contract: Alerts), without a database: random notifications, people and time, and after each step every
 * alert whose last word is that it fires has an open incident, or one that a person has closed.
 */

const STEPS = Number(process.env['TOCSIN_TEST_ALERTS'] ?? 20_000);
const STEPS_OF_A_RUN = 100;
const START = Date.parse('2026-11-24T08:00:00Z');
const DAY = 86_400_000;

const { statuses, severities } = DEFAULT_CONFIGURATION;
const options: AlertOptions = {
  ...{ onEnd: 'resolve', reopenWithin: 3_600_000, remindAfter: DAY, newIncidents: 3 },
  ...{
    service: '',
    serviceLabel: 'service',
    severityLabel: 'severity',
    isGroupedByAlert: false,
    restricted: false,
    quietAfter: null,
  },
};

const said = fc.record({
  name: fc.nat({ max: 2 }),
  fires: fc.boolean(),
  /** Its start: null: not said; 0: that of its present firing. Minutes. */
  start: fc.oneof(fc.constant(null), fc.constant(0), fc.integer({ min: -20, max: 20 })),
  hasEnd: fc.boolean(),
  severity: fc.constantFrom('', 'warning', 'critical'),
});
const step = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant('notify' as const),
      group: fc.nat({ max: 2 }),
      alerts: fc.array(said, { minLength: 1, maxLength: 3 }),
      isOver: fc.boolean(),
      /** Of the two instances, one is five minutes ahead. */
      ahead: fc.constantFrom(0, 300_000),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constantFrom('resolve' as const, 'archive' as const, 'reopen' as const, 'edit' as const, 'merge' as const),
      incident: fc.nat(),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant('wait' as const), for: fc.constantFrom(1_000, 60_000, 700_000, DAY) }),
  },
);

/** A monitor, its incidents and the people, as the database would have them. */
class World {
  now = START;
  readonly groups = new Map<string, KnownGroup>();
  readonly members = new Map<string, Member>();
  readonly incidents = new Map<number, KnownIncident>();
  readonly originals = new Map<number, number>();
  minute = { at: 0, declared: 0, lastIncidentId: null as number | null, groups: 0 };
  /** By group and name: the start of the firing that a monitor means. */
  readonly starts = new Map<string, number>();

  get time() {
    return new Date(this.now).toISOString();
  }

  hear(groups: Parameters<typeof heardGroup>[0][]): Decision {
    const minute = Math.floor(this.now / 60_000);
    if (this.minute.at !== minute) this.minute = { at: minute, declared: 0, lastIncidentId: null, groups: 0 };
    const originals = new Map([...this.originals].filter(([, id]) => isOpen(this.get(id), { statuses })));
    const { groups: known, members, incidents } = this;
    const all: Known = { groups: known, members, incidents, minute: this.minute, originals };
    const heard = { groups: groups.map(heardGroup), options, statuses, severities, eventQuota: null, now: this.time };
    const compared = comparison(members, heard);
    const changes = { groups: heard.groups.map(compared.changeOf), members: compared.members };
    const decision = decide(changes, all, heard);
    this.#keep(decision);
    return decision;
  }

  get = (id: number) => this.incidents.get(id) as KnownIncident;

  #keep({ effects, groups, members, minute, touched }: Decision) {
    const ids = new Map<number, number>();
    const idOf = (ref: number | null) => (ref === null || ref > 0 ? ref : (ids.get(ref) ?? null));
    for (const { incident: ref, acts } of effects) {
      check(ref < 0 || touched.has(ref), 'what changes is locked');
      for (const act of acts) {
        if (act.do === 'declare') ids.set(ref, this.#declare(act.severity ?? 'sev3'));
        const incident = this.get(idOf(ref) ?? 0);
        if (act.do === 'reopen') this.set(incident.id, { status: 'active', statusChangedAt: this.time });
        if (act.do === 'raise') this.set(incident.id, { severity: act.severity });
        if (act.do === 'recover') this.set(incident.id, { recoveredAt: act.at });
        if (act.do === 'resolve') this.set(incident.id, { status: 'resolved', statusChangedAt: this.time });
        if (act.do === 'note') check(act.count > 0, 'an event is about alerts');
        if (act.do === 'keep') {
          const resolved = acts.some((each) => each.do === 'resolve');
          const revision = incident.revision + 1;
          this.set(incident.id, {
            revision,
            alerts: { ...act.state, ...(resolved && { resolvedRevision: revision }) },
          });
        }
      }
    }
    for (const { digest, firing, incident } of groups)
      this.groups.set(digest, { digest, firing, incidentId: idOf(incident) });
    for (const [key, member] of members) this.members.set(key, member);
    this.minute = { ...this.minute, ...minute, lastIncidentId: idOf(minute.last) };
    for (const incident of this.incidents.values()) {
      const own = [...this.groups.values()].filter(({ incidentId }) => incidentId === incident.id);
      this.set(incident.id, { firing: own.reduce((sum, { firing }) => sum + firing, 0) });
    }
  }

  #declare(severity: string): number {
    const id = this.incidents.size + 1;
    const alerts = { endedAt: null, recoveredAt: null, resolvedRevision: null, lastEnd: null };
    this.incidents.set(id, {
      ...{ id, number: id, createdAt: this.time, revision: 1, status: 'open', statusChangedAt: null, archivedAt: null },
      ...{ severity, isUnhandledAlert: true, isDuplicate: false, recoveredAt: null, impactStartedAt: null },
      ...{ eventCount: 0, alerts, firing: 0, closedBy: '42' },
    });
    return id;
  }

  set(id: number, change: Partial<KnownIncident>) {
    this.incidents.set(id, { ...this.get(id), ...change });
  }

  /** A person does something to an incident. */
  act(verb: 'resolve' | 'archive' | 'reopen' | 'edit' | 'merge', number: number) {
    const id = (number % Math.max(1, this.incidents.size)) + 1;
    const incident = this.incidents.get(id);
    if (incident === undefined) return;
    const acted = { isUnhandledAlert: false, revision: incident.revision + 1 };
    if (verb === 'archive') this.set(id, { ...acted, archivedAt: incident.archivedAt === null ? this.time : null });
    if (incident.archivedAt !== null) return;
    if (verb === 'edit') this.set(id, acted);
    if (verb === 'reopen' && incident.status === 'resolved')
      this.set(id, { ...acted, status: 'active', statusChangedAt: this.time });
    if (verb === 'resolve' || verb === 'merge')
      this.set(id, { ...acted, status: 'resolved', statusChangedAt: this.time, isDuplicate: verb === 'merge' });
    if (verb === 'merge') this.originals.set(id, (id % this.incidents.size) + 1);
  }
}

function check(holds: boolean, law: string): void {
  if (!holds) throw new Error(law);
}

const iso = (time: number) => new Date(time).toISOString();

test('whatever monitors, people and clocks do, an alert that fires has an open incident or one that a person closed', () => {
  const seen = new Map<string, number>();
  const run = (steps: readonly (typeof step extends fc.Arbitrary<infer Step> ? Step : never)[]) => {
    const world = new World();
    for (const each of steps) {
      world.now += 1_000;
      if (each.do === 'wait') world.now += each.for;
      else if (each.do !== 'notify') world.act(each.do, each.incident);
      else {
        const { ahead } = each;
        const alerts = each.alerts.map(({ name, fires, start, hasEnd, severity }): Alert => {
          const key = `${each.group}/${name}`;
          if (start !== 0 || !world.starts.has(key)) world.starts.set(key, world.now + (start ?? 0) * 60_000);
          const began = start === null ? null : iso((world.starts.get(key) ?? 0) + ahead);
          return {
            ...{ id: `a${name}`, key: digestOf(`a${name}`), state: fires ? 'firing' : 'ended', firing: began },
            ...{ startedAt: began, endedAt: !fires && hasEnd ? iso(world.now + ahead) : null, isAcknowledged: false },
            ...{ name: `a${name}`, summary: '', description: '', severity, service: '', labels: [], links: [] },
          };
        });
        const { answers } = world.hear([{ identity: `g${each.group}`, title: '', alerts, isOver: each.isOver }]);
        for (const { outcome, incident, remindAt, changes } of answers) {
          seen.set(outcome, (seen.get(outcome) ?? 0) + 1);
          // The response to a notification that something fires names an open incident, or until when a person's act counts.
          if (!changes.some(({ alert, after }) => alert.state === 'firing' && after.isFiring)) continue;
          const stands = world.get(incident !== null && incident < 0 ? world.incidents.size : (incident ?? 0));
          if (outcome === 'closed_by_person') {
            check(!isOpen(stands, { statuses }), 'what a person closed is closed');
            check(remindAt !== undefined && remindAt > world.time, 'it is known when it is declared again');
          } else if (changes.every(({ alert }) => alert.state === 'firing') && !each.isOver)
            check(isOpen(stands, { statuses }), 'an open incident stands for it');
        }
      }
      for (const member of world.members.values()) {
        check(world.members.get(memberKey(member)) === member, 'an alert has one place');
        if (!member.isFiring) continue;
        const incident = world.incidents.get(world.groups.get(member.group)?.incidentId ?? 0);
        check(incident !== undefined, 'what fires has an incident');
        // Only people close an incident whose alerts fire.
        if (incident !== undefined && !isOpen(incident, { statuses }))
          check(!incident.isUnhandledAlert, 'only people close what fires');
      }
      for (const { digest, firing } of world.groups.values()) {
        const own = [...world.members.values()].filter(({ group, isFiring }) => isFiring && group === digest);
        check(firing === own.length, 'the count of a group is that of its alerts');
      }
    }
  };
  fc.assert(fc.property(fc.array(step, { minLength: 1, maxLength: 2 * STEPS_OF_A_RUN, size: 'max' }), run), {
    numRuns: Math.ceil(STEPS / STEPS_OF_A_RUN),
  });
  expect([...seen.keys()].sort()).toEqual([
    ...['added', 'closed_by_person', 'collected', 'declared', 'ended', 'reopened', 'unchanged'],
  ]);
}, 600_000);
