import {
  type Envelope,
  envelope,
  type EventData,
  eventData,
  eventWorkspace,
  FEED_TYPES,
  type FeedType,
  incidentReference,
  incidentSnapshot,
  timelineEventSnapshot,
} from '@tocsin/schemas';
import { schemaReference } from '@tocsin/http';
import { z } from 'zod';

/** Schemas that several types of events have; the API description has each of them once. */
const COMPONENTS: readonly z.ZodType[] = [
  eventWorkspace.meta({ id: 'EventWorkspace' }),
  incidentSnapshot.meta({ id: 'IncidentSnapshot' }),
  incidentReference.meta({ id: 'IncidentReference' }),
  timelineEventSnapshot.meta({ id: 'TimelineEventSnapshot' }),
];

/** The properties with references to the components. A schema and its copies share their definition. */
function withReferences<Shape extends Readonly<Record<string, z.ZodType>>>(shape: Shape): Shape {
  const properties = Object.entries(shape).map(([name, property]) => {
    const component = COMPONENTS.find(({ _zod }) => _zod.def === property._zod.def);
    const { description = '' } = property.meta() ?? {};
    return [name, component === undefined ? property : schemaReference(component, description)] as const;
  });
  return Object.fromEntries(properties) as Shape;
}

const nameOf = (type: string) =>
  `${type.replaceAll(/(?:^|[._-])(\w)/g, (_, letter: string) => letter.toUpperCase())}Event`;

/** An event of one type, as it is on the message broker. Further properties may be added to it at any time. */
const variants = FEED_TYPES.map((type) =>
  z
    .looseObject({
      ...withReferences(envelope.shape),
      type: z.literal(type).meta({ description: 'The type of the event' }),
      data: z.looseObject(withReferences(eventData[type].shape)).meta({ description: 'What happened' }),
    })
    .meta({ id: nameOf(type) }),
);

type Variant = (typeof variants)[number];

/** An event of the feed: its `type` decides what `data` has (contract: Event feed). */
export type FeedEventWire = { [Type in FeedType]: Envelope<EventData<Type>> & { type: Type } }[FeedType];

export const feedEvent = z
  .discriminatedUnion('type', variants as [Variant, ...Variant[]])
  .meta({ id: 'FeedEvent', description: 'An event; `type` decides what `data` has' }) as unknown as z.ZodType<
  FeedEventWire,
  FeedEventWire
>;
