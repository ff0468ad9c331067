import { useTeams } from '../api/hooks.ts';
import { choices, Select } from '../ui/fields.tsx';

/** Chooses one team, or all. */
export function TeamFilter({
  label = 'Team',
  any = 'Any team',
  team,
  onTeam,
}: {
  label?: string;
  any?: string;
  team: number | undefined;
  onTeam: (team: number | undefined) => void;
}) {
  const { data: teams = [] } = useTeams();
  return (
    <Select
      bare
      label={label}
      options={[['', any], ...choices(teams, 'id', 'name')]}
      value={String(team ?? '')}
      onValue={(value) => onTeam(value === '' ? undefined : Number(value))}
    />
  );
}
