import type { Comparison } from '../../domain/list-filters.ts';
import { type Sql, sql } from './sql.ts';

const OPERATORS = { '<': sql`<`, '>': sql`>`, '=': sql`=` } as const;

export const compare = (what: Sql, { operator, value }: Comparison): Sql =>
  sql`${what} ${OPERATORS[operator]} ${value}`;
