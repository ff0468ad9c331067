/** The value of a property of the object itself: `object[name]` also finds what objects inherit, such as `constructor`. */
export const ownProperty = <Value>(object: Readonly<Record<string, Value>>, name: string): Value | undefined =>
  Object.hasOwn(object, name) ? object[name] : undefined;

/** `Object.entries` with the type of the names, for an object that has no other properties than its type. */
export const entriesOf = <Type extends object>(object: Type) =>
  Object.entries(object) as [keyof Type & string, Type[keyof Type & string]][];
