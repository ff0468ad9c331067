/**
 * The ID of the incident that a stored event is about, as text, by its body; an index of `events` has it. Texts of clients
 * come behind it in the body.
 */
export const INCIDENT_OF_EVENT = String.raw`substring(body from '"resource":\{"type":"incident","id":([0-9]+),')`;
