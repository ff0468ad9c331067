import { describe, expect, test } from '@jest/globals';
import { readConfigurationPart } from '../../src/configuration/domain/configuration-part.ts';

const status = (key: string, more: object = {}) => ({ key, label: key, ...more });
const statuses = (...more: object[]) => [
  status('active', { is_default: true }),
  status('resolved', { is_terminal: true }),
  status('closed', { is_terminal: true }),
  ...more,
];
const severity = (key: string, min_score: number, more: object = {}) => ({ key, label: key, min_score, ...more });
const tier = (key: string, more: object = {}) => ({ key, label: key, ...more });
const rate = (currency: string, more: object = {}) => ({ currency, rate: 1.1, as_of: '2026-11-20T09:00:00Z', ...more });

test('flags and colours have defaults', () => {
  const read = readConfigurationPart({
    workflow_statuses: statuses(),
    severities: [severity('p1', 50, { is_default: true })],
  });
  expect(read.workflow_statuses?.[1]).toEqual({
    key: 'resolved',
    label: 'resolved',
    is_default: false,
    is_terminal: true,
    is_escalation_threshold: false,
    color: '#667085',
  });
  expect(read.severities?.[0]).toMatchObject({ description: '', color: '#667085' });
});

describe('is rejected', () => {
  test.each([
    [
      'no default',
      { workflow_statuses: [status('active'), status('resolved'), status('closed')] },
      'workflow_statuses',
    ],
    ['two defaults', { workflow_statuses: statuses(status('new', { is_default: true })) }, 'workflow_statuses'],
    [
      'without resolved',
      { workflow_statuses: [status('active', { is_default: true }), status('closed')] },
      'workflow_statuses',
    ],
    ['without anything', { workflow_statuses: [] }, 'workflow_statuses'],
    ['a key twice', { workflow_statuses: statuses(status('closed')) }, 'workflow_statuses.3.key'],
    ['a word of lists', { workflow_statuses: statuses(status('nonterminal')) }, 'workflow_statuses.3.key'],
    ['a key that is none', { workflow_statuses: statuses(status('In progress')) }, 'workflow_statuses.3.key'],
    ['a blank label', { workflow_statuses: statuses({ key: 'new', label: ' ' }) }, 'workflow_statuses.3.label'],
    [
      'text that cannot be kept',
      { workflow_statuses: statuses({ key: 'new', label: '\0' }) },
      'workflow_statuses.3.label',
    ],
    [
      'rising scores',
      { severities: [severity('p1', 10, { is_default: true }), severity('p2', 20)] },
      'severities.1.min_score',
    ],
    ['a score below 0', { severities: [severity('p1', -1, { is_default: true })] }, 'severities.0.min_score'],
    ['no severity', { severities: [] }, 'severities'],
    ['a currency twice', { exchange_rates: [rate('EUR'), rate('EUR')] }, 'exchange_rates.1.currency'],
    ['no currency', { exchange_rates: [rate('eur')] }, 'exchange_rates.0.currency'],
    ['no rate', { exchange_rates: [rate('EUR', { rate: 0 })] }, 'exchange_rates.0.rate'],
    ['no time', { exchange_rates: [rate('EUR', { as_of: '2026-02-30T00:00:00Z' })] }, 'exchange_rates.0.as_of'],
    [
      'a group twice',
      {
        timeline_groups: [
          { id: 1, name: 'a' },
          { id: 1, name: 'b' },
        ],
      },
      'timeline_groups.1.id',
    ],
    ['no list', { severities: {} }, 'severities'],
    ['no tier', { service_tiers: [] }, 'service_tiers'],
    ['no default tier', { service_tiers: [tier('a')] }, 'service_tiers'],
    ['a tier twice', { service_tiers: [tier('a', { is_default: true }), tier('a')] }, 'service_tiers.1.key'],
    ['a tier whose key is none', { service_tiers: [tier('Gold', { is_default: true })] }, 'service_tiers.0.key'],
    ['a key that is too long', { service_tiers: [tier('a'.repeat(65))] }, 'service_tiers.0.key'],
    [
      'a description that is none',
      { service_tiers: [tier('a', { description: null })] },
      'service_tiers.0.description',
    ],
    [
      'a tier at another place',
      { service_tiers: [tier('a', { is_default: true, order: 1 }), tier('b', { order: 0 })] },
      'service_tiers.1.order',
    ],
    [
      'too many statuses',
      { workflow_statuses: Array.from({ length: 101 }, (_, n) => status(`s${n}`)) },
      'workflow_statuses',
    ],
    ['a label that is too long', { timeline_groups: [{ name: 'x'.repeat(129) }] }, 'timeline_groups.0.name'],
  ])('%s', (_what, part, field) => {
    expect(() => readConfigurationPart(part)).toThrow(expect.objectContaining({ code: 'invalid_request', field }));
  });

  test('an unknown property', () => {
    expect(() => readConfigurationPart({ workflow_statuses: statuses(status('new', { colour: 'red' })) })).toThrow(
      expect.objectContaining({ code: 'unknown_field', field: 'workflow_statuses.3.colour' }),
    );
    expect(() => readConfigurationPart([])).toThrow(expect.objectContaining({ code: 'invalid_request' }));
  });
});
