import { describe, expect, test } from '@jest/globals';
import { envelope, EVENT_TYPES, eventData } from '@tocsin/schemas';
import { EXAMPLES } from '../event-examples.ts';

describe('the example of', () => {
  test.each(EVENT_TYPES)('%s is a valid message without unknown members', (type) => {
    const example = EXAMPLES[type];
    expect(envelope.strict().parse(example)).toEqual(example);
    expect(eventData[type].strict().parse(example.data)).toEqual(example.data);
  });
});
