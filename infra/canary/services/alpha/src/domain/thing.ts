import 'knex'; // pure-domain
import '../store/things.ts'; // room-domain
