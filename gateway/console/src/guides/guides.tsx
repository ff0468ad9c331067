import { Link } from '@tanstack/react-router';
import { Card, Page } from '../ui/layout.tsx';
import { Loaded } from '../ui/states.tsx';
import ui from '../ui/ui.module.css';
import css from './guides.module.css';
import { useGuides } from './use-guides.ts';

export function GuidesPage() {
  const guides = useGuides();
  return (
    <Page title="Guides" lead="How to connect monitors, programs and people, and how to run Tocsin.">
      <Loaded query={guides}>
        {({ groups }) => (
          <div className={ui.stack}>
            {groups.map(({ title, guides: names }) => (
              <Card key={title} title={title} padded>
                <ul className={css.names}>
                  {names.map(({ name, title: text }) => (
                    <li key={name}>
                      <Link to="/guides/$name" params={{ name }}>
                        {text}
                      </Link>
                    </li>
                  ))}
                </ul>
              </Card>
            ))}
          </div>
        )}
      </Loaded>
    </Page>
  );
}
