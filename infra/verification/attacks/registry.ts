import type { Attack } from './attack.ts';
import { alertAttacks } from './families/alerts.ts';
import { bodyAttacks } from './families/bodies.ts';
import { configurationAttacks } from './families/configurations.ts';
import { connectionAttacks } from './families/connections.ts';
import { crowdAttacks } from './families/crowds.ts';
import { definitionAttacks } from './families/definitions.ts';
import { destinationAttacks } from './families/destinations.ts';
import { faultAttacks } from './families/faults.ts';
import { growingAnswerAttacks } from './families/growing-answers.ts';
import { outsiderAttacks } from './families/outsiders.ts';
import { pageAttacks } from './families/pages.ts';
import { pictureAttacks } from './families/pictures.ts';
import { readerAttacks } from './families/readers.ts';
import { receiverAttacks } from './families/receivers.ts';
import { relationAttacks } from './families/relations.ts';
import { searchAttacks } from './families/searches.ts';
import { transferAttacks } from './families/transfers.ts';
import { valueAttacks } from './families/values.ts';

/** All attacks, in the order in which the suite runs them. */
export const ATTACKS: readonly Attack[] = [
  ...bodyAttacks,
  ...pictureAttacks,
  ...connectionAttacks,
  ...searchAttacks,
  ...valueAttacks,
  ...pageAttacks,
  ...growingAnswerAttacks,
  ...definitionAttacks,
  ...configurationAttacks,
  ...crowdAttacks,
  ...readerAttacks,
  ...transferAttacks,
  ...alertAttacks,
  ...relationAttacks,
  ...outsiderAttacks,
  ...receiverAttacks,
  ...destinationAttacks,
  ...faultAttacks,
];

/** Those of the short form. */
export const SHORT_ATTACKS = ATTACKS.filter(({ onlyFull }) => onlyFull !== true);

/** @throws Error naming the attacks that exist */
export function findAttack(name: string): Attack {
  const attack = ATTACKS.find((each) => each.name === name);
  if (attack === undefined) {
    throw new Error(`there is no attack ${name}: ${ATTACKS.map((each) => each.name).join(', ')}`);
  }
  return attack;
}
