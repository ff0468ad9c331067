import { PreconditionFailedError, Tocsin } from '@tocsin/sdk';

const { TOCSIN_URL = 'http://localhost:8080', TOCSIN_TOKEN = '' } = process.env;
const tocsin = new Tocsin({ baseUrl: TOCSIN_URL, token: TOCSIN_TOKEN });

const { incident } = await tocsin.incidents.create({
  title: 'Checkout is down',
  service: 'checkout',
  severity: 'sev1',
});
console.log(`declared ${incident.human_id}`);

await tocsin.timeline.create(incident.id, { body: 'The last deployment broke the payment form' });

// Whatever others write meanwhile, nothing is overwritten.
await tocsin.incidents.updateWith(incident.id, (current) => ({
  impact_summary: `${current.impact_summary}\nOne order in three fails`.trim(),
}));

try {
  // The creation was revision 1, and two changes have followed.
  await tocsin.incidents.update(incident.id, { severity: 'sev2' }, { ifRevision: 1 });
} catch (error) {
  if (!(error instanceof PreconditionFailedError)) throw error;
  console.log(`refused: ${error.message} (now ${String(error.details['current_revision'])})`);
}

await tocsin.incidents.resolve(incident.id, { resolution_note: 'Rolled back' });
for await (const { human_id: reference, title } of tocsin.incidents.list({ status: ['resolved'] })) {
  console.log(`${reference} ${title}`);
}
