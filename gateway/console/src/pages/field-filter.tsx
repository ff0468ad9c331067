import { useState } from 'react';
import type { CustomField } from '../api/types.ts';
import { Dialog, Form, Input, Select } from '../ui/ui.tsx';
import { type FieldFilter, filterValue, OPERATORS, optionsOf } from './incident-filters.ts';

const INPUT_TYPES: Partial<Record<CustomField['field_type'], string>> = { number: 'number', date: 'date' };

/** A filter by a custom field, with the operators and the values of its type. */
export function FieldFilterForm({
  fields,
  onAdd,
  onClose,
}: {
  fields: readonly CustomField[];
  onAdd: (filter: FieldFilter) => void;
  onClose: () => void;
}) {
  const filterable = fields.filter(({ field_type: type }) => OPERATORS[type] !== undefined);
  const [slug, setSlug] = useState(filterable[0]?.slug ?? '');
  const [operator, setOperator] = useState<string>();
  const [text, setText] = useState<string>();
  const field = filterable.find((each) => each.slug === slug);
  if (field === undefined) return null;
  const { field_type: type } = field;
  const operators = OPERATORS[type] ?? [];
  const choices = type === 'boolean' ? [['true', 'yes'] as const, ['false', 'no'] as const] : optionsOf(field);
  const chosen = operator ?? operators[0]?.[0] ?? '';
  const written = text ?? choices[0]?.[0] ?? '';
  const value = filterValue(type, written);
  return (
    <Dialog title="Filter by a custom field" onClose={onClose}>
      <Form
        error={null}
        label="Add filter"
        disabled={value === undefined}
        onSubmit={() => value !== undefined && onAdd({ slug, operator: chosen, value })}
        onClose={onClose}
      >
        <Select
          label="Field"
          options={filterable.map((each) => [each.slug, each.name])}
          value={slug}
          onChange={({ target }) => {
            setSlug(target.value);
            setOperator(undefined);
            setText(undefined);
          }}
        />
        <Select
          label="Condition"
          options={operators}
          value={chosen}
          onChange={({ target }) => setOperator(target.value)}
        />
        {choices.length > 0 ? (
          <Select label="Value" options={choices} value={written} onChange={({ target }) => setText(target.value)} />
        ) : (
          <Input
            label="Value"
            type={INPUT_TYPES[type] ?? 'text'}
            value={written}
            onChange={({ target }) => setText(target.value)}
          />
        )}
      </Form>
    </Dialog>
  );
}
