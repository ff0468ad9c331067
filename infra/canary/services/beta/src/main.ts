import '../../alpha/src/domain/thing.ts'; // no-foreign-service
import '../test/helper.ts'; // no-tests-in-production
