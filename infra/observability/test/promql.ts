import { parser } from '@prometheus-io/lezer-promql';

/** A metric that an expression reads, and what it demands of the labels. */
interface Selector {
  metric: string;
  matchers: { label: string; operator: string; value: string }[];
}

export interface Expression {
  selectors: Selector[];
  /** The labels in `by (…)`, `on (…)` and the like. */
  groupingLabels: string[];
}

/** Grafana replaces them before it sends an expression. */
const VARIABLES: readonly [RegExp, string][] = [[/\$__(?:rate_interval|interval|range)/g, '5m']];

/** Reads an expression with Prometheus' own grammar. @throws Error with the place of a syntax error */
export function readExpression(text: string): Expression {
  const promql = VARIABLES.reduce((replaced, [variable, value]) => replaced.replaceAll(variable, value), text);
  const textOf = ({ from, to }: { from: number; to: number }) => promql.slice(from, to);
  const expression: Expression = { selectors: [], groupingLabels: [] };
  parser.parse(promql).iterate({
    enter: ({ type, node }) => {
      if (type.isError) throw new Error(`not PromQL at ${node.from}: ${promql}`);
      if (type.name === 'VectorSelector') {
        const metric = node.getChild('Identifier');
        if (metric === null) throw new Error(`a selector without a metric: ${textOf(node)}`);
        const matchers = node.getChild('LabelMatchers')?.getChildren('UnquotedLabelMatcher') ?? [];
        expression.selectors.push({
          metric: textOf(metric),
          matchers: matchers.map((matcher) => {
            const part = (name: string) => {
              const child = matcher.getChild(name);
              if (child === null) throw new Error(`no ${name}: ${textOf(matcher)}`);
              return textOf(child);
            };
            return {
              label: part('LabelName'),
              operator: part('MatchOp'),
              value: JSON.parse(part('StringLiteral')) as string,
            };
          }),
        });
      }
      if (type.name === 'GroupingLabels') {
        for (const label of node.getChildren('LabelName')) expression.groupingLabels.push(textOf(label));
      }
    },
  });
  return expression;
}
