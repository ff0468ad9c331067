import '../../alpha/src/domain/thing.ts'; // no-other-app
import '../test/helper.ts'; // no-tests-in-production
