import { useNavigate } from '@tanstack/react-router';
import { useRef, useState } from 'react';
import { useConfiguration, useServices, useWrite } from '../api/hooks.ts';
import type { Incident } from '../api/types.ts';
import { Dialog, Form, Input, Select } from '../ui/ui.tsx';

/** Three fields; everything else can wait until the incident exists. */
export function DeclareDialog({ onClose }: { onClose: () => void }) {
  const { severities } = useConfiguration();
  const { data: services = [] } = useServices();
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
    <Dialog title="Declare an incident" onClose={onClose}>
      <Form error={declare.error} label="Declare" busy={declare.isPending} onSubmit={submit} onClose={onClose}>
        <Input
          label="What is happening?"
          name="title"
          maxLength={255}
          placeholder="Checkout answers slowly"
          value={title}
          onChange={(event) => setTitle(event.target.value)}
        />
        <Select
          label="Severity"
          name="severity"
          options={severities.map((each) => [each.key, each.label])}
          value={chosen}
          onChange={(event) => setSeverity(event.target.value)}
        />
        <Input
          label="Service"
          name="service"
          hint="Its team becomes the team of the incident. It can wait."
          list="declare-services"
          value={service}
          onChange={(event) => setService(event.target.value)}
        />
        <datalist id="declare-services">
          {services.map((each) => (
            <option key={each.slug} value={each.slug}>
              {each.name}
            </option>
          ))}
        </datalist>
      </Form>
    </Dialog>
  );
}
