import type { ComponentProps } from 'react';
import { useMe } from '../api/hooks.ts';
import { Input } from '../ui/fields.tsx';

/** The short title of an incident, which some workspaces require. */
export function ShortTitle(value: Pick<ComponentProps<typeof Input>, 'value' | 'onValue'>) {
  const isRequired = useMe().data?.workspace.short_title_required === true;
  return (
    <Input
      label={`Short title${isRequired ? ' (required)' : ''}`}
      hint="A word or two for the name of the channel, at most 12 characters."
      maxLength={12}
      required={isRequired}
      name="short_title"
      {...value}
    />
  );
}
