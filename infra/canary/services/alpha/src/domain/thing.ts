import 'knex'; // pure-domain
import '../store/things.ts'; // layer-domain
