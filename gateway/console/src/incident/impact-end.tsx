import type { Incident } from '@tocsin/sdk';
import { IMPACT, labelOf } from '../incidents/describe.ts';
import { type Edit, equal } from '../resources/conflict.tsx';
import { Input, Select } from '../ui/fields.tsx';
import { fromLocalInput, toLocalInput } from '../ui/format.ts';
import ui from '../ui/ui.module.css';

/** What is asked of the impact when an incident is resolved, on what was shown then. */
export interface ImpactEnd {
  value: Pick<Incident, 'recovered_at' | 'customer_impact_status'>;
  base: Pick<Incident, 'recovered_at' | 'customer_impact_status'>;
  revision: number;
}

/** The impact of an incident, which ends now unless somebody has said when it did. */
export function impactEndOf({ recovered_at: end, customer_impact_status, revision }: Incident): ImpactEnd {
  const base = { recovered_at: end, customer_impact_status };
  return { value: { ...base, recovered_at: end ?? new Date().toISOString() }, base, revision };
}

/** The edit that saves it. @returns undefined if it is as it was */
export function impactEdit({ value, base, revision }: ImpactEnd): Edit | undefined {
  const names = (['recovered_at', 'customer_impact_status'] as const).filter((name) => !equal(value[name], base[name]));
  if (names.length === 0) return undefined;
  return { changes: Object.fromEntries(names.map((name) => [name, value[name]])), base, revision };
}

export function ImpactFields({
  value,
  onValue,
}: {
  value: ImpactEnd['value'];
  onValue: (value: ImpactEnd['value']) => void;
}) {
  return (
    <div className={ui.pair}>
      <Input
        name="recovered_at"
        label="The impact ended"
        type="datetime-local"
        defaultValue={toLocalInput(value.recovered_at)}
        onValue={(text) => onValue({ ...value, recovered_at: fromLocalInput(text) })}
      />
      <Select
        name="customer_impact_status"
        label={labelOf('customer_impact_status')}
        options={IMPACT}
        value={value.customer_impact_status}
        onValue={(status) => onValue({ ...value, customer_impact_status: status })}
      />
    </div>
  );
}
