import { Card } from '../ui/layout.tsx';
import { Empty } from '../ui/states.tsx';
import ui from '../ui/ui.module.css';
import css from './palette.module.css';
import { Finder } from './palette.tsx';

/** What an address shows that has no page: a search of everything. */
export const NotFoundPage = () => (
  <div className={ui.page}>
    <Empty title="There is no such page" heading="h1" icon="search">
      Find an incident, a service or a page by its name.
    </Empty>
    <div className={css.inPage}>
      <Card>
        <Finder />
      </Card>
    </div>
  </div>
);
