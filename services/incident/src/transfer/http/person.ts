import { boundedText, isEmailAddress, nameText } from '@tocsin/schemas';
import { schemaReference } from '@tocsin/http';
import { z } from 'zod';
import { EMAIL, USER_ID } from '../domain/item.ts';

export const person = z
  .strictObject({
    name: nameText(255).meta({ description: 'The name, which is kept if the workspace has no user with the address' }),
    email: boundedText(254)
      .regex(EMAIL, 'Must be an email address')
      .refine(isEmailAddress, 'Must be an email address')
      .optional()
      .meta({ description: 'The email address, in any case of letters; absent: the name is kept' }),
  })
  .refine(({ name, email }) => email !== undefined || !USER_ID.test(name.trim()), {
    path: ['name'],
    error: 'Must not be a number without an email address',
  })
  .meta({ id: 'ImportedPerson' });

export const personReference = (description: string) => schemaReference(person, description);

export const optional = <Schema extends z.ZodType>(schema: Schema, description: string) =>
  schema.optional().meta({ description });
