/** Somebody who took part in an incident. */
export interface Person {
  name: string;
  email?: string | undefined;
}

/** An address as it can stand behind a name. */
export const EMAIL = /^[^<>\s@]+@[^<>\s@]+$/;
const MAILBOX = /^(.+) <([^<>\s@]+@[^<>\s@]+)>$/s;

/** The ID of a user as text, which no name may be. */
export const USER_ID = /^[1-9]\d*$/;

/** What an incident has for a person: the ID of the user with the address, or the name, and behind it the address. */
export function textOfPerson({ name, email }: Person, userIds: ReadonlyMap<string, number>): string {
  if (email === undefined) return name;
  const userId = userIds.get(email.toLowerCase());
  return userId === undefined ? `${name} <${email}>` : String(userId);
}

/** The opposite of `textOfPerson`. */
export function personOf(text: string, users: ReadonlyMap<number, Person>): Person {
  const user = USER_ID.test(text) ? users.get(Number(text)) : undefined;
  if (user !== undefined) return user;
  const [, name = text, email] = MAILBOX.exec(text) ?? [];
  return { name, ...(email !== undefined && { email }) };
}
