import type { Incident } from '@tocsin/sdk';
import { useNavigate } from '@tanstack/react-router';
import { useRef, useState } from 'react';
import { useConfiguration, useWrite } from '../api/hooks.ts';
import { choices, FormDialog, Input, Select, ServiceNames } from '../ui/ui.tsx';

/** Three fields; everything else can wait until the incident exists. */
export function DeclareDialog({ onClose }: { onClose: () => void }) {
  const { severities } = useConfiguration();
  const navigate = useNavigate();
  const declare = useWrite<{ incident: Incident }>('/incidents');
  // The same for repetitions of one content: however often somebody clicks, there is one incident.
  const sent = useRef({ text: '', key: '' });
  const [title, setTitle] = useState('');
  const [severity, setSeverity] = useState<string>();
  const [service, setService] = useState('');
  const chosen = severity ?? severities.find(({ is_default: isDefault }) => isDefault)?.key ?? '';

  const submit = () => {
    if (declare.isPending) return;
    const body = { title, severity: chosen, service };
    const text = JSON.stringify(body);
    if (sent.current.text !== text) sent.current = { text, key: crypto.randomUUID() };
    declare.mutate(
      { path: '/incidents', key: sent.current.key, body },
      {
        onSuccess: ({ incident }) => {
          onClose();
          void navigate({ to: '/incidents/$id', params: { id: String(incident.id) } });
        },
      },
    );
  };
  return (
    <FormDialog
      title="Declare an incident"
      error={declare.error}
      label="Declare"
      busy={declare.isPending}
      onSubmit={submit}
      onClose={onClose}
    >
      <Input
        label="What is happening?"
        name="title"
        maxLength={255}
        placeholder="Checkout answers slowly"
        value={title}
        onValue={setTitle}
      />
      <Select
        label="Severity"
        name="severity"
        options={choices(severities, 'key', 'label')}
        value={chosen}
        onValue={setSeverity}
      />
      <Input
        label="Service"
        name="service"
        hint="Its team becomes the team of the incident. It can wait."
        list="declare-services"
        value={service}
        onValue={setService}
      />
      <ServiceNames id="declare-services" />
    </FormDialog>
  );
}
